package profile

import (
	"crypto/rand"
	"errors"
	"path/filepath"

	"coffer/wallet/journal"
)

// anchorName is the name of the anchor in its directory.
const anchorName = "journal"

// Journal is the directory of the profile's journal and how it is opened; holder names this process to another one. A
// replay has a journal of its own that ends with it and is anchored nowhere.
func (o *Opened) Journal(holder string) (dir string, options journal.Options) {
	options = journal.Options{Network: o.Network.ID, Kind: o.Network.Kind, Clock: o.Clock, Random: rand.Reader, Holder: holder}
	if o.player == nil {
		options.Anchor = filepath.Join(o.anchors(), anchorName)
	}
	return o.Paths.ProfileState(o.Profile.Name), options
}

// journalState says why nothing can be signed with the journal, or nil.
func (o *Opened) journalState() error {
	lost, err := journal.Examine(o.Journal("doctor"))
	switch {
	case errors.Is(err, journal.ErrWhole):
		return nil
	case err != nil:
		return err
	}
	return lost.Why
}

// Plans is where the list of the plans that were carried out is kept: beside the anchor, so that it is not restored
// with the journal.
func (o *Opened) Plans() Folder { return Folder{Dir: o.anchors()} }

func (o *Opened) anchors() string { return o.Paths.ProfileAnchor(o.Profile.Name, o.Network.ID) }
