package profile

import (
	"crypto/rand"
	"errors"
	"path/filepath"

	"coffer/wallet/journal"
)

// anchorName is the name of the anchor in its directory.
const anchorName = "journal"

// Journal returns the directory of the profile's journal and how to open it; holder names this process to another one.
// A replay has its own journal, which ends with it and has no anchor.
func (o *Opened) Journal(holder string) (dir string, options journal.Options) {
	options = journal.Options{Network: o.tags.journal, Kind: o.Network.Kind, Clock: o.Clock, Random: rand.Reader,
		Holder: holder}
	if o.player == nil {
		options.Anchor = filepath.Join(o.anchors(), anchorName)
	}
	return o.Paths.ProfileState(o.Profile.Name), options
}

// journalState returns why nothing can be signed with the journal, or nil.
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

// Plans is where the list of completed plans is kept: beside the anchor, so that restoring the journal does not
// restore it.
func (o *Opened) Plans() Folder { return Folder{Dir: o.anchors()} }

func (o *Opened) anchors() string { return o.anchorsOf(o.tags.journal).Dir }
