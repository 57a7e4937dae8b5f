package main

import (
	"bytes"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/apache/iceberg-go"
)

// Operations on manifests and manifest lists. Records have the names of the spec's tables, 64-bit numbers are decimal
// strings, and bytes are hexadecimal.

type manifestArgs struct {
	Bytes            string                  `json:"bytes"`
	Select           []string                `json:"select"`
	ManifestFile     listed                  `json:"manifest_file"`
	Schema           *iceberg.Schema         `json:"schema"`
	Specs            []iceberg.PartitionSpec `json:"specs"`
	Spec             iceberg.PartitionSpec   `json:"spec"`
	FormatVersion    int                     `json:"format_version"`
	Content          int                     `json:"content"`
	SnapshotID       long                    `json:"snapshot_id"`
	ParentSnapshotID *long                   `json:"parent_snapshot_id"`
	SequenceNumber   long                    `json:"sequence_number"`
	FirstRowID       *long                   `json:"first_row_id"`
	Entries          []entryForm             `json:"entries"`
	Manifests        []listed                `json:"manifests"`
}

// long is written as a decimal string, or as a small number.
type long int64

func (l long) MarshalJSON() ([]byte, error) { return json.Marshal(strconv.FormatInt(int64(l), 10)) }

func (l *long) UnmarshalJSON(raw []byte) error {
	whole, err := strconv.ParseInt(strings.Trim(string(raw), `"`), 10, 64)
	*l = long(whole)
	return err
}

// octets are written in hexadecimal.
type octets []byte

func (o octets) MarshalJSON() ([]byte, error) { return json.Marshal(upperHex(o)) }

func (o *octets) UnmarshalJSON(raw []byte) error {
	data, err := hex.DecodeString(strings.Trim(string(raw), `"`))
	*o = data
	return err
}

// listed is a manifest in a list.
type listed struct {
	Path           string    `json:"manifest_path"`
	Length         long      `json:"manifest_length"`
	SpecID         int32     `json:"partition_spec_id"`
	Content        int32     `json:"content"`
	SequenceNumber *long     `json:"sequence_number"`
	MinSequence    *long     `json:"min_sequence_number"`
	SnapshotID     long      `json:"added_snapshot_id"`
	AddedFiles     *int32    `json:"added_files_count"`
	ExistingFiles  *int32    `json:"existing_files_count"`
	DeletedFiles   *int32    `json:"deleted_files_count"`
	AddedRows      *long     `json:"added_rows_count"`
	ExistingRows   *long     `json:"existing_rows_count"`
	DeletedRows    *long     `json:"deleted_rows_count"`
	Partitions     []summary `json:"partitions"`
	KeyMetadata    octets    `json:"key_metadata,omitempty"`
	FirstRowID     *long     `json:"first_row_id"`
}

type summary struct {
	ContainsNull bool    `json:"contains_null"`
	ContainsNaN  *bool   `json:"contains_nan"`
	LowerBound   *octets `json:"lower_bound"`
	UpperBound   *octets `json:"upper_bound"`
}

type entryForm struct {
	Status             int8     `json:"status"`
	SnapshotID         *long    `json:"snapshot_id"`
	SequenceNumber     *long    `json:"sequence_number"`
	FileSequenceNumber *long    `json:"file_sequence_number"`
	DataFile           fileForm `json:"data_file"`
}

type fileForm struct {
	Content       int8                       `json:"content"`
	Path          string                     `json:"file_path"`
	Format        string                     `json:"file_format"`
	Partition     map[string]json.RawMessage `json:"partition"`
	Records       long                       `json:"record_count"`
	Size          long                       `json:"file_size_in_bytes"`
	ColumnSizes   map[int]long               `json:"column_sizes,omitempty"`
	ValueCounts   map[int]long               `json:"value_counts,omitempty"`
	NullCounts    map[int]long               `json:"null_value_counts,omitempty"`
	NaNCounts     map[int]long               `json:"nan_value_counts,omitempty"`
	LowerBounds   map[int]octets             `json:"lower_bounds,omitempty"`
	UpperBounds   map[int]octets             `json:"upper_bounds,omitempty"`
	KeyMetadata   octets                     `json:"key_metadata,omitempty"`
	SplitOffsets  []long                     `json:"split_offsets,omitempty"`
	EqualityIDs   []int                      `json:"equality_ids,omitempty"`
	SortOrderID   *int                       `json:"sort_order_id,omitempty"`
	FirstRowID    *long                      `json:"first_row_id,omitempty"`
	Referenced    *string                    `json:"referenced_data_file,omitempty"`
	ContentOffset *long                      `json:"content_offset,omitempty"`
	ContentSize   *long                      `json:"content_size_in_bytes,omitempty"`
}

func pointer[T any, N long | int | int32 | int64](value *N, as func(N) T) *T {
	if value == nil {
		return nil
	}
	made := as(*value)
	return &made
}

func toLong(value int64) long   { return long(value) }
func fromLong(value long) int64 { return int64(value) }

func mapped[K comparable, A, B any](values map[K]A, as func(A) B) map[K]B {
	if values == nil {
		return nil
	}
	made := make(map[K]B, len(values))
	for key, value := range values {
		made[key] = as(value)
	}
	return made
}

// manifest returns the entry of a manifest list in the library's class. Only a list assigns row ids, so one is written.
func (file listed) manifest(version int) (iceberg.ManifestFile, error) {
	builder := iceberg.NewManifestFile(version, file.Path, int64(file.Length), file.SpecID, int64(file.SnapshotID)).
		Content(iceberg.ManifestContent(file.Content))
	if file.SequenceNumber != nil {
		least := file.SequenceNumber
		if file.MinSequence != nil {
			least = file.MinSequence
		}
		builder.SequenceNum(int64(*file.SequenceNumber), int64(*least))
	}
	for count, set := range map[*int32]func(int32) *iceberg.ManifestBuilder{
		file.AddedFiles: builder.AddedFiles, file.ExistingFiles: builder.ExistingFiles, file.DeletedFiles: builder.DeletedFiles,
	} {
		if count != nil {
			set(*count)
		}
	}
	for count, set := range map[*long]func(int64) *iceberg.ManifestBuilder{
		file.AddedRows: builder.AddedRows, file.ExistingRows: builder.ExistingRows, file.DeletedRows: builder.DeletedRows,
	} {
		if count != nil {
			set(int64(*count))
		}
	}
	if file.Partitions != nil {
		summaries := []iceberg.FieldSummary{}
		for _, one := range file.Partitions {
			summaries = append(summaries, iceberg.FieldSummary{
				ContainsNull: one.ContainsNull, ContainsNaN: one.ContainsNaN,
				LowerBound: (*[]byte)(one.LowerBound), UpperBound: (*[]byte)(one.UpperBound),
			})
		}
		builder.Partitions(summaries)
	}
	if file.KeyMetadata != nil {
		builder.KeyMetadata(file.KeyMetadata)
	}
	made := builder.Build()
	if file.FirstRowID == nil {
		return made, nil
	}
	var list bytes.Buffer
	number, snapshot := int64(0), int64(file.SnapshotID)
	if file.SequenceNumber != nil {
		number = int64(*file.SequenceNumber)
	}
	err := iceberg.WriteManifestList(3, &list, snapshot, nil, &number, int64(*file.FirstRowID), []iceberg.ManifestFile{made})
	if err != nil {
		return nil, err
	}
	read, err := iceberg.ReadManifestList(&list)
	if err != nil {
		return nil, err
	}
	return read[0], nil
}

func manifestRead(args manifestArgs) (any, error) {
	data, err := hex.DecodeString(args.Bytes)
	if err != nil {
		return nil, err
	}
	file := args.ManifestFile
	file.Path, file.Length = "memory:/m.avro", long(len(data))
	manifest, err := file.manifest(3)
	if err != nil {
		return nil, err
	}
	entries, err := iceberg.ReadManifest(manifest, bytes.NewReader(data), false)
	if err != nil {
		return nil, err
	}
	var partition *iceberg.StructType
	for _, spec := range args.Specs {
		if spec.ID() == int(file.SpecID) {
			partition = spec.PartitionType(args.Schema)
		}
	}
	if partition == nil {
		return nil, unsupported("manifests are read without the specs of the table")
	}
	forms := []entryForm{}
	for _, entry := range entries {
		form, err := entryOf(entry, partition)
		if err != nil {
			return nil, err
		}
		forms = append(forms, form)
	}
	answer := map[string]any{"entries": forms}
	if slices.Contains(args.Select, "header") {
		answer["header"], err = headerOf(manifest, data)
	}
	return answer, err
}

// headerOf returns the metadata of the file.
func headerOf(manifest iceberg.ManifestFile, data []byte) (any, error) {
	reader, err := iceberg.NewManifestReader(manifest, bytes.NewReader(data))
	if err != nil {
		return nil, err
	}
	defer reader.Close()
	spec, err := reader.PartitionSpecID()
	return map[string]any{
		"format_version": reader.Version(), "content": int(reader.ManifestContent()), "partition_spec_id": spec,
	}, err
}

func entryOf(entry iceberg.ManifestEntry, partition *iceberg.StructType) (entryForm, error) {
	file := entry.DataFile()
	values := map[string]json.RawMessage{}
	for _, field := range partition.Fields() {
		if value := file.Partition()[field.ID]; value != nil {
			text, err := json.Marshal(exchangeForm(field.Type, value))
			if err != nil {
				return entryForm{}, err
			}
			values[strconv.Itoa(field.ID)] = text
		}
	}
	snapshot, number := long(entry.SnapshotID()), long(entry.SequenceNum())
	form := entryForm{
		Status: int8(entry.Status()), SnapshotID: &snapshot, SequenceNumber: &number,
		FileSequenceNumber: pointer(entry.FileSequenceNum(), toLong),
		DataFile: fileForm{
			Content: int8(file.ContentType()), Path: file.FilePath(), Format: strings.ToLower(string(file.FileFormat())),
			Partition: values, Records: long(file.Count()), Size: long(file.FileSizeBytes()),
			ColumnSizes: mapped(file.ColumnSizes(), toLong), ValueCounts: mapped(file.ValueCounts(), toLong),
			NullCounts: mapped(file.NullValueCounts(), toLong), NaNCounts: mapped(file.NaNValueCounts(), toLong),
			LowerBounds: mapped(file.LowerBoundValues(), toOctets), UpperBounds: mapped(file.UpperBoundValues(), toOctets),
			KeyMetadata: file.KeyMetadata(), EqualityIDs: file.EqualityFieldIDs(), SortOrderID: file.SortOrderID(),
			FirstRowID: pointer(file.FirstRowID(), toLong), Referenced: file.ReferencedDataFile(),
			ContentOffset: pointer(file.ContentOffset(), toLong), ContentSize: pointer(file.ContentSizeInBytes(), toLong),
		},
	}
	for _, offset := range file.SplitOffsets() {
		form.DataFile.SplitOffsets = append(form.DataFile.SplitOffsets, long(offset))
	}
	return form, nil
}

func toOctets(data []byte) octets   { return data }
func fromOctets(data octets) []byte { return data }

func listRead(args manifestArgs) (any, error) {
	data, err := hex.DecodeString(args.Bytes)
	if err != nil {
		return nil, err
	}
	manifests, err := iceberg.ReadManifestList(bytes.NewReader(data))
	if err != nil {
		return nil, err
	}
	forms := []listed{}
	for _, one := range manifests {
		number, least := long(one.SequenceNum()), long(one.MinSequenceNum())
		addedFiles, existingFiles, deletedFiles := one.AddedDataFiles(), one.ExistingDataFiles(), one.DeletedDataFiles()
		addedRows, existingRows, deletedRows := long(one.AddedRows()), long(one.ExistingRows()), long(one.DeletedRows())
		form := listed{
			Path: one.FilePath(), Length: long(one.Length()), SpecID: one.PartitionSpecID(),
			Content: int32(one.ManifestContent()), SequenceNumber: &number, MinSequence: &least,
			SnapshotID: long(one.SnapshotID()), KeyMetadata: one.KeyMetadata(), FirstRowID: pointer(one.FirstRowID(), toLong),
			AddedFiles: &addedFiles, ExistingFiles: &existingFiles, DeletedFiles: &deletedFiles,
			AddedRows: &addedRows, ExistingRows: &existingRows, DeletedRows: &deletedRows,
		}
		for _, field := range one.Partitions() {
			form.Partitions = append(form.Partitions, summary{
				ContainsNull: field.ContainsNull, ContainsNaN: field.ContainsNaN,
				LowerBound: (*octets)(field.LowerBound), UpperBound: (*octets)(field.UpperBound),
			})
		}
		forms = append(forms, form)
	}
	return map[string]any{"manifests": forms}, nil
}

// Writing

func manifestWrite(args manifestArgs) (any, error) {
	var file bytes.Buffer
	content := iceberg.WithManifestWriterContent(iceberg.ManifestContent(args.Content))
	writer, err := iceberg.NewManifestWriter(args.FormatVersion, &file, args.Spec, args.Schema, int64(args.SnapshotID), content)
	if err != nil {
		return nil, err
	}
	partition := args.Spec.PartitionType(args.Schema)
	for _, form := range args.Entries {
		made, err := form.entry(args.Spec, partition)
		if err != nil {
			return nil, err
		}
		add := map[int8]func(iceberg.ManifestEntry) error{0: writer.Existing, 1: writer.Add, 2: writer.Delete}[form.Status]
		if err := add(made); err != nil {
			return nil, err
		}
	}
	if err := writer.Close(); err != nil {
		return nil, err
	}
	return upperHex(file.Bytes()), nil
}

func (form entryForm) entry(spec iceberg.PartitionSpec, partition *iceberg.StructType) (iceberg.ManifestEntry, error) {
	file, err := form.DataFile.file(spec, partition)
	if err != nil {
		return nil, err
	}
	return iceberg.NewManifestEntry(
		iceberg.ManifestEntryStatus(form.Status), pointer(form.SnapshotID, fromLong),
		pointer(form.SequenceNumber, fromLong), pointer(form.FileSequenceNumber, fromLong), file,
	), nil
}

func (form fileForm) file(spec iceberg.PartitionSpec, partition *iceberg.StructType) (iceberg.DataFile, error) {
	values := map[int]any{}
	for _, field := range partition.Fields() {
		value, err := literal(field.Type, form.Partition[strconv.Itoa(field.ID)])
		if err != nil {
			return nil, err
		}
		if value != nil {
			values[field.ID] = value.Any()
		} else {
			values[field.ID] = nil
		}
	}
	format, err := iceberg.FileFormatFromString(form.Format)
	if err != nil {
		return nil, err
	}
	builder, err := iceberg.NewDataFileBuilder(spec, iceberg.ManifestEntryContent(form.Content), form.Path, format,
		values, nil, nil, int64(form.Records), int64(form.Size))
	if err != nil {
		return nil, fmt.Errorf("data file: %w", err)
	}
	for _, one := range []struct {
		values map[int]long
		set    func(map[int]int64) *iceberg.DataFileBuilder
	}{
		{form.ColumnSizes, builder.ColumnSizes}, {form.ValueCounts, builder.ValueCounts},
		{form.NullCounts, builder.NullValueCounts}, {form.NaNCounts, builder.NaNValueCounts},
	} {
		if one.values != nil {
			one.set(mapped(one.values, fromLong))
		}
	}
	if form.LowerBounds != nil {
		builder.LowerBoundValues(mapped(form.LowerBounds, fromOctets))
	}
	if form.UpperBounds != nil {
		builder.UpperBoundValues(mapped(form.UpperBounds, fromOctets))
	}
	if form.KeyMetadata != nil {
		builder.KeyMetadata(form.KeyMetadata)
	}
	if form.SplitOffsets != nil {
		offsets := []int64{}
		for _, offset := range form.SplitOffsets {
			offsets = append(offsets, int64(offset))
		}
		builder.SplitOffsets(offsets)
	}
	if form.EqualityIDs != nil {
		builder.EqualityFieldIDs(form.EqualityIDs)
	}
	if form.SortOrderID != nil {
		builder.SortOrderID(*form.SortOrderID)
	}
	if form.FirstRowID != nil {
		builder.FirstRowID(int64(*form.FirstRowID))
	}
	if form.Referenced != nil {
		builder.ReferencedDataFile(*form.Referenced)
	}
	if form.ContentOffset != nil {
		builder.ContentOffset(int64(*form.ContentOffset))
	}
	if form.ContentSize != nil {
		builder.ContentSizeInBytes(int64(*form.ContentSize))
	}
	return builder.Build(), nil
}

func listWrite(args manifestArgs) (any, error) {
	manifests := []iceberg.ManifestFile{}
	for _, file := range args.Manifests {
		made, err := file.manifest(args.FormatVersion)
		if err != nil {
			return nil, err
		}
		manifests = append(manifests, made)
	}
	firstRowID := int64(0)
	if args.FirstRowID != nil {
		firstRowID = int64(*args.FirstRowID)
	} else if args.FormatVersion == 3 {
		return nil, unsupported("the writer of v3 lists assigns row ids always")
	}
	var file bytes.Buffer
	number := int64(args.SequenceNumber)
	err := iceberg.WriteManifestList(args.FormatVersion, &file, int64(args.SnapshotID),
		pointer(args.ParentSnapshotID, fromLong), &number, firstRowID, manifests)
	if err != nil {
		return nil, err
	}
	return upperHex(file.Bytes()), nil
}
