package main

import (
	"bytes"
	"encoding/hex"
	"strconv"

	"github.com/apache/iceberg-go/puffin"
	"github.com/apache/iceberg-go/table/dv"
)

// Operations on Puffin files and deletion vectors.

type puffinArgs struct {
	Bytes      string            `json:"bytes"`
	Blobs      []blobForm        `json:"blobs"`
	Properties map[string]string `json:"properties"`
	Ranges     [][2]long         `json:"ranges"`
}

type blobForm struct {
	Type       string            `json:"type"`
	Fields     []int32           `json:"fields"`
	Snapshot   long              `json:"snapshot-id"`
	Number     long              `json:"sequence-number"`
	Offset     long              `json:"offset"`
	Length     long              `json:"length"`
	Codec      *string           `json:"compression-codec"`
	Properties map[string]string `json:"properties"`
	Payload    octets            `json:"payload"`
}

// maxPositions limits the positions that an answer lists: vectors have no more, and listing takes memory.
const maxPositions = 1 << 22

func puffinRead(args puffinArgs) (any, error) {
	data, err := hex.DecodeString(args.Bytes)
	if err != nil {
		return nil, err
	}
	reader, err := puffin.NewReader(bytes.NewReader(data))
	if err != nil {
		return nil, err
	}
	blobs := []blobForm{}
	for place, blob := range reader.Blobs() {
		if blob.CompressionCodec != nil && (*blob.CompressionCodec == "lz4" || *blob.CompressionCodec == "zstd") {
			return nil, unsupported("the library reads no compressed blobs")
		}
		read, err := reader.ReadBlob(place)
		if err != nil {
			return nil, err
		}
		blobs = append(blobs, blobForm{
			Type: string(blob.Type), Fields: append([]int32{}, blob.Fields...), Snapshot: long(blob.SnapshotID), Number: long(blob.SequenceNumber),
			Offset: long(blob.Offset), Length: long(blob.Length), Codec: blob.CompressionCodec,
			Properties: given(blob.Properties), Payload: read.Data,
		})
	}
	return map[string]any{"blobs": blobs, "properties": given(reader.Properties())}, nil
}

func given(properties map[string]string) map[string]string {
	if properties == nil {
		return map[string]string{}
	}
	return properties
}

func puffinWrite(args puffinArgs) (any, error) {
	var file bytes.Buffer
	writer, err := puffin.NewWriter(&file)
	if err != nil {
		return nil, err
	}
	for _, blob := range args.Blobs {
		if blob.Codec != nil {
			return nil, unsupported("the library writes blobs without compression")
		}
		input := puffin.BlobMetadataInput{
			Type: puffin.BlobType(blob.Type), SnapshotID: int64(blob.Snapshot), SequenceNumber: int64(blob.Number),
			Fields: blob.Fields, Properties: blob.Properties,
		}
		if _, err := writer.AddBlob(input, blob.Payload); err != nil {
			return nil, err
		}
	}
	if err := writer.AddProperties(args.Properties); err != nil {
		return nil, err
	}
	if err := writer.Finish(); err != nil {
		return nil, err
	}
	return upperHex(file.Bytes()), nil
}

func dvDecode(args puffinArgs) (any, error) {
	data, err := hex.DecodeString(args.Bytes)
	if err != nil {
		return nil, err
	}
	vector, err := dv.DeserializeDV(data, -1)
	if err != nil {
		return nil, err
	}
	if vector.Cardinality() > maxPositions {
		return nil, unsupported(strconv.FormatInt(vector.Cardinality(), 10) + " positions are too many to list")
	}
	ranges := [][2]long{}
	for position := range vector.Positions() {
		last := len(ranges) - 1
		if last >= 0 && ranges[last][1]+1 == long(position) {
			ranges[last][1] = long(position)
		} else {
			ranges = append(ranges, [2]long{long(position), long(position)})
		}
	}
	return map[string]any{"cardinality": long(vector.Cardinality()), "ranges": ranges}, nil
}

func dvEncode(args puffinArgs) (any, error) {
	vector := dv.NewRoaringPositionBitmap()
	for _, one := range args.Ranges {
		if one[0] < 0 || one[1] < one[0] {
			return nil, unsupported("the library has no such positions")
		}
		vector.SetRange(uint64(one[0]), uint64(one[1])+1)
	}
	data, err := dv.SerializeDV(vector)
	return upperHex(data), err
}
