package main

import (
	"encoding/hex"
	"encoding/json"
	"fmt"
	"math"
	"math/big"
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/apache/arrow-go/v18/arrow/decimal128"
	"github.com/apache/iceberg-go"
	"github.com/google/uuid"
)

// The exchange form of values (docs/protocol.md), read and written without validation: to refuse a value is
// up to the library. A value without any form in the library is unsupported.

const day = 86_400

var (
	dateForm = regexp.MustCompile(`^([+-]?\d{4,9})-(\d\d)-(\d\d)$`)
	timeForm = regexp.MustCompile(`^(\d\d):(\d\d)(?::(\d\d)(?:\.(\d{1,9}))?)?$`)
	zoneForm = regexp.MustCompile(`^(.*)([+-])(\d\d):(\d\d)$`)
)

func noForm(typ iceberg.Type) error {
	return unsupported("the library has no form of this as " + typ.String())
}

// literal returns the library's value of an exchange form; nil for null.
func literal(typ iceberg.Type, raw json.RawMessage) (iceberg.Literal, error) {
	var value any
	decoder := json.NewDecoder(strings.NewReader(string(raw)))
	decoder.UseNumber()
	if len(raw) == 0 || string(raw) == "null" {
		return nil, nil
	}
	if err := decoder.Decode(&value); err != nil {
		return nil, err
	}
	text, isText := value.(string)
	number, isNumber := value.(json.Number)
	if isNumber {
		text = number.String()
	}
	switch known := typ.(type) {
	case iceberg.BooleanType:
		if truth, ok := value.(bool); ok {
			return iceberg.BoolLiteral(truth), nil
		}
	case iceberg.Int32Type:
		if whole, err := strconv.ParseInt(text, 10, 32); err == nil && isNumber {
			return iceberg.Int32Literal(whole), nil
		}
	case iceberg.Int64Type:
		if whole, err := strconv.ParseInt(text, 10, 64); err == nil {
			return iceberg.Int64Literal(whole), nil
		}
	case iceberg.Float32Type:
		if real, ok := float(text); ok {
			return iceberg.Float32Literal(real), nil
		}
	case iceberg.Float64Type:
		if real, ok := float(text); ok {
			return iceberg.Float64Literal(real), nil
		}
	case iceberg.DecimalType:
		return decimal(known, text)
	case iceberg.DateType:
		if days, ok := days(text); ok && days == int64(int32(days)) {
			return iceberg.DateLiteral(days), nil
		}
	case iceberg.TimeType:
		if count, ok := counted(text, 6); ok {
			return iceberg.TimeLiteral(count), nil
		}
	case iceberg.TimestampType, iceberg.TimestampTzType:
		if count, ok := instant(text, 6, zoned(typ)); ok {
			return iceberg.TimestampLiteral(count), nil
		}
	case iceberg.TimestampNsType, iceberg.TimestampTzNsType:
		if count, ok := instant(text, 9, zoned(typ)); ok {
			return iceberg.TimestampNsLiteral(count), nil
		}
	case iceberg.StringType:
		if isText {
			return iceberg.StringLiteral(text), nil
		}
	case iceberg.UUIDType:
		if parsed, err := uuid.Parse(text); err == nil && len(text) == 36 {
			return iceberg.UUIDLiteral(parsed), nil
		}
	case iceberg.FixedType:
		if data, err := hex.DecodeString(text); err == nil && isText {
			return iceberg.FixedLiteral(data), nil
		}
	case iceberg.BinaryType:
		if data, err := hex.DecodeString(text); err == nil && isText {
			return iceberg.BinaryLiteral(data), nil
		}
	}
	return nil, noForm(typ)
}

func float(text string) (float64, bool) {
	switch text {
	case "NaN":
		return math.Float64frombits(0x7FF8000000000000), true // math.NaN() has another bit set
	case "Infinity":
		return math.Inf(1), true
	case "-Infinity":
		return math.Inf(-1), true
	}
	real, err := strconv.ParseFloat(text, 64)
	return real, err == nil
}

func decimal(typ iceberg.DecimalType, text string) (iceberg.Literal, error) {
	whole, fraction, _ := strings.Cut(text, ".")
	unscaled, ok := new(big.Int).SetString(whole+fraction, 10)
	if !ok || unscaled.BitLen() > 127 {
		return nil, noForm(typ)
	}
	return iceberg.DecimalLiteral{Val: decimal128.FromBigInt(unscaled), Scale: len(fraction)}, nil
}

func zoned(typ iceberg.Type) bool { return strings.HasPrefix(typ.Type(), "timestamptz") }

func days(text string) (int64, bool) {
	part := dateForm.FindStringSubmatch(text)
	if part == nil {
		return 0, false
	}
	year, month, dayOf := number(part[1]), number(part[2]), number(part[3])
	date := time.Date(year, time.Month(month), dayOf, 0, 0, 0, 0, time.UTC)
	return floorDiv(date.Unix(), day), int(date.Month()) == month && date.Day() == dayOf
}

func number(text string) int {
	found, _ := strconv.Atoi(strings.TrimPrefix(text, "+"))
	return found
}

// counted returns the time since midnight in the unit of the given digits of a second.
func counted(text string, digits int) (int64, bool) {
	part := timeForm.FindStringSubmatch(text)
	if part == nil || len(part[4]) > digits {
		return 0, false
	}
	hour, minute, second := number(part[1]), number(part[2]), number(part[3])
	if hour > 23 || minute > 59 || second > 59 {
		return 0, false
	}
	fraction := number((part[4] + "000000000")[:digits])
	return int64(hour*3600+minute*60+second)*power(digits) + int64(fraction), true
}

func instant(text string, digits int, withZone bool) (int64, bool) {
	date, clock, _ := strings.Cut(text, "T")
	ahead := int64(0)
	if withZone {
		part := zoneForm.FindStringSubmatch(clock)
		if part == nil {
			return 0, false
		}
		clock, ahead = part[1], int64(number(part[3])*3600+number(part[4])*60)
		if part[2] == "-" {
			ahead = -ahead
		}
	}
	dayCount, ok := days(date)
	count, fits := counted(clock, digits)
	if !ok || !fits {
		return 0, false
	}
	exact := new(big.Int).Mul(big.NewInt(dayCount*day-ahead), big.NewInt(power(digits)))
	exact.Add(exact, big.NewInt(count))
	return exact.Int64(), exact.IsInt64()
}

func power(digits int) int64 {
	power := int64(1)
	for range digits {
		power *= 10
	}
	return power
}

func floorDiv(a, b int64) int64 {
	if a%b < 0 {
		return a/b - 1
	}
	return a / b
}

// exchangeForm returns the exchange form of an answer of the library. What is not a value of the type stays as it is.
func exchangeForm(typ iceberg.Type, value any) any {
	switch known := value.(type) {
	case iceberg.Literal:
		return exchangeForm(typ, known.Any())
	case nil, bool, string:
		return known
	case int:
		return whole(typ, int64(known))
	case int32:
		return whole(typ, int64(known))
	case int64:
		return whole(typ, known)
	case iceberg.Date:
		return dateText(int64(known))
	case iceberg.Time:
		return timeText(int64(known), 6)
	case iceberg.Timestamp:
		return instantText(int64(known), 6, zoned(typ))
	case iceberg.TimestampNano:
		return instantText(int64(known), 9, zoned(typ))
	case float32:
		return real(float64(known))
	case float64:
		return real(known)
	case iceberg.Decimal:
		return decimalText(known.Val.BigInt(), known.Scale)
	case uuid.UUID:
		return known.String()
	case [16]byte:
		return uuid.UUID(known).String()
	case []byte:
		if _, isUUID := typ.(iceberg.UUIDType); isUUID && len(known) == 16 {
			return uuid.UUID(known).String()
		}
		return upperHex(known)
	}
	return fmt.Sprintf("%T %v", value, value)
}

func upperHex(data []byte) string { return strings.ToUpper(hex.EncodeToString(data)) }

// whole returns the exchange form of an integer of a type, such as a date.
func whole(typ iceberg.Type, value int64) any {
	switch typ.(type) {
	case iceberg.Int64Type:
		return strconv.FormatInt(value, 10)
	case iceberg.DateType:
		return dateText(value)
	case iceberg.TimeType:
		return timeText(value, 6)
	case iceberg.TimestampType, iceberg.TimestampTzType:
		return instantText(value, 6, zoned(typ))
	case iceberg.TimestampNsType, iceberg.TimestampTzNsType:
		return instantText(value, 9, zoned(typ))
	}
	return value
}

func real(value float64) any {
	switch {
	case math.IsNaN(value):
		return "NaN"
	case math.IsInf(value, 1):
		return "Infinity"
	case math.IsInf(value, -1):
		return "-Infinity"
	case value == 0 && math.Signbit(value):
		return json.Number("-0.0")
	}
	return value
}

func decimalText(unscaled *big.Int, scale int) string {
	digits := new(big.Int).Abs(unscaled).String()
	if scale > 0 {
		digits = strings.Repeat("0", max(0, scale+1-len(digits))) + digits
		digits = digits[:len(digits)-scale] + "." + digits[len(digits)-scale:]
	}
	if unscaled.Sign() < 0 {
		return "-" + digits
	}
	return digits
}

func dateText(days int64) string {
	date := time.Unix(days*day, 0).UTC()
	year, sign := date.Year(), ""
	if year < 0 {
		year, sign = -year, "-"
	} else if year > 9999 {
		sign = "+"
	}
	return fmt.Sprintf("%s%04d-%02d-%02d", sign, year, date.Month(), date.Day())
}

func timeText(count int64, digits int) string {
	seconds, fraction := count/power(digits), count%power(digits)
	return fmt.Sprintf("%02d:%02d:%02d.%0*d", seconds/3600, seconds/60%60, seconds%60, digits, fraction)
}

func instantText(count int64, digits int, withZone bool) string {
	units := day * power(digits)
	date := floorDiv(count, units)
	text := dateText(date) + "T" + timeText(count-date*units, digits)
	if withZone {
		return text + "+00:00"
	}
	return text
}
