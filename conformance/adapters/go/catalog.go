package main

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"sort"
	"sync"

	"github.com/apache/iceberg-go/table"
)

// memoryCatalog is a catalog of one table. It checks what commits require and applies their updates with the library's
// own functions.
type memoryCatalog struct {
	sync.Mutex
	folder    string
	metadata  table.Metadata
	commits   int
	snapshots []int64
}

var raced = table.Identifier{"races", "table"}

func (m *memoryCatalog) location() string {
	return filepath.Join(m.folder, fmt.Sprintf("v%d.metadata.json", m.commits))
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
	m.metadata = changed
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
