package main

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"sort"
	"strings"
	"sync"

	"github.com/apache/iceberg-go/table"
	"github.com/google/uuid"
)

// memoryCatalog is a catalog of one table. It checks what commits require and applies their updates with the library's
// own functions.
type memoryCatalog struct {
	sync.Mutex
	folder    string
	place     string // of the current metadata file
	keeps     bool   // whether metadata files are written
	metadata  table.Metadata
	commits   int
	snapshots []int64
}

var raced = table.Identifier{"races", "table"}

func (m *memoryCatalog) location() string {
	return m.place
}

// next returns the place of the metadata file after the current one, a name that no file has.
func (m *memoryCatalog) next() string {
	version := -1
	if _, err := fmt.Sscanf(strings.TrimPrefix(filepath.Base(m.place), "v"), "%d", &version); err != nil {
		version = -1
	}
	return filepath.Join(m.folder, fmt.Sprintf("%05d-%s.metadata.json", version+1, uuid.New()))
}

// set makes metadata the current one of the table.
func (m *memoryCatalog) set(metadata table.Metadata) error {
	place := m.next()
	if m.keeps {
		text, err := json.Marshal(metadata)
		if err != nil {
			return err
		}
		if err := os.MkdirAll(m.folder, 0o755); err != nil {
			return err
		}
		if err := os.WriteFile(place, text, 0o644); err != nil {
			return err
		}
	}
	m.metadata, m.place = metadata, place
	return nil
}

func (m *memoryCatalog) LoadTable(context.Context, table.Identifier) (*table.Table, error) {
	m.Lock()
	defer m.Unlock()
	return table.New(raced, m.metadata, m.location(), localFiles, m), nil
}

func (m *memoryCatalog) CommitTable(_ context.Context, _ table.Identifier, asked []table.Requirement, updates []table.Update) (table.Metadata, string, error) {
	m.Lock()
	defer m.Unlock()
	for _, requirement := range asked {
		if err := requirement.Validate(m.metadata); err != nil {
			return nil, "", fmt.Errorf("%w: %w", table.ErrCommitFailed, err)
		}
	}
	changed, err := table.UpdateTableMetadata(m.metadata, updates, m.location())
	if err != nil {
		return nil, "", err
	}
	if err := m.set(changed); err != nil {
		return nil, "", err
	}
	m.commits++
	fresh := []table.Snapshot{}
	for _, snapshot := range changed.Snapshots() {
		if !slices.Contains(m.snapshots, snapshot.SnapshotID) {
			fresh = append(fresh, snapshot)
		}
	}
	sort.SliceStable(fresh, func(a, b int) bool { return fresh[a].SequenceNumber < fresh[b].SequenceNumber })
	for _, snapshot := range fresh {
		m.snapshots = append(m.snapshots, snapshot.SnapshotID)
	}
	return changed, m.location(), nil
}
