package profile

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"coffer/api/network"
	"coffer/api/pattern"
	"coffer/config"
	"coffer/ui/cli"
	"coffer/wallet/journal"
	"coffer/wallet/vault"
)

// Change is what a person has to confirm before anything is signed: Words say what changed and what that means, Typed
// has to be typed: "yes", RealSentence, or the fingerprint of the network.
type Change struct {
	Words []string
	Typed string
}

// unconfirmed says that nothing is signed before a person has confirmed the Change.
func (o *Opened) unconfirmed() error {
	return errors.New("nothing is signed before this network is confirmed: coffer profile confirm --profile " +
		o.Profile.Name)
}

// confirmedName is the name of the descriptor of a network as it was confirmed last. It lies beside the anchor, so that
// restoring an older state does not take it back.
const confirmedName = "confirmed.json"

// tags are the networks that the keys and the journal of a profile are tagged with.
type tags struct{ keys, journal string }

// findTags finds them, and what has to be confirmed. Keys and journal of an embedded profile stay tagged with a network
// before this one until a person says that this one took its place. What a service of others is reached by is confirmed
// before it is used for the first time, too: the id of a network does not cover its contracts.
func (o *Opened) findTags(ctx context.Context) error {
	now := o.Network.ID
	o.tags = tags{now, now}
	if o.Network.Version == 1 {
		return nil
	}
	known, err := o.confirmed()
	if err != nil {
		return err
	}
	var earlier []network.Descriptor
	if o.Profile.Embedded() && o.local != nil {
		earlier = o.local.Earlier
	}
	lost := o.lost(earlier)
	if before := slices.Concat(earlier, lost); len(before) > 0 {
		if err := o.findTagged(ctx, before); err != nil {
			return err
		}
	}
	switch {
	case o.tags != tags{now, now}, known == nil && len(earlier) > 0:
		o.change = renewed(o.Network, o.before(earlier, lost), o.local.Left)
	case known == nil && o.Profile.OwnNodes() && o.Network.Kind == network.Real:
		o.change = &Change{Typed: RealSentence, Words: realWords()}
	case known == nil && o.local == nil, known != nil && known.Fingerprint() != o.Network.Fingerprint():
		o.change = replaced(o.Network, known)
	}
	return nil
}

// lost are the networks that this embedded profile was on, by the anchors, and that its data directory does not know
// any more: of them there is no more than the id. One of a service of others is none, whatever kind the profile has
// now.
func (o *Opened) lost(earlier []network.Descriptor) (all []network.Descriptor) {
	if o.local == nil || !o.Profile.Embedded() {
		return nil
	}
	anchors := filepath.Dir(o.anchorsOf("").Dir)
	found, _ := os.ReadDir(anchors) // without any there is none
	for _, d := range found {
		at := Folder{Dir: filepath.Join(anchors, d.Name())}
		id := journal.AnchorNetwork(filepath.Join(at.Dir, anchorName))
		raw, _ := at.Load(confirmedName)
		if n, err := network.Decode(raw); err == nil && n.Kind != network.Embedded {
			continue
		}
		if networkID.MatchString(id) && o.anchorsOf(id) == at && id != o.Network.ID &&
			!slices.ContainsFunc(earlier, func(n network.Descriptor) bool { return n.ID == id }) {
			all = append(all, network.Descriptor{Version: 1, ID: id})
		}
	}
	return all
}

var networkID = pattern.New(`^0x[0-9a-f]{64}$`)

// findTagged notes which of keys and journal still belong to a network before, or again, after a backup was put back.
func (o *Opened) findTagged(ctx context.Context, before []network.Descriptor) error {
	ids := []string{o.Network.ID}
	for _, n := range before {
		ids = append(ids, n.ID)
	}
	is, err := journal.Belongs(o.Paths.ProfileState(o.Profile.Name), ids...)
	if err != nil {
		return err
	}
	o.tags.journal = cmp.Or(is, o.Network.ID)
	if o.Profile.Vault == config.VaultMemory {
		return nil
	}
	for _, id := range ids {
		v, err := o.vaultOf(id)
		if err != nil {
			return err
		}
		there, err := v.Exists(ctx)
		if err = errors.Join(err, v.Close()); err != nil || there {
			if err == nil {
				o.tags.keys = id
			}
			return err
		}
	}
	return nil
}

// confirmed is the network as it was confirmed, nil when it never was, and one of nothing when that cannot be read.
func (o *Opened) confirmed() (*network.Descriptor, error) {
	raw, err := o.anchorsOf(o.Network.ID).Load(confirmedName)
	if err != nil || raw == nil {
		return nil, err
	}
	n, err := network.Decode(raw)
	if err != nil || n.Version < 2 {
		n = network.Descriptor{}
	}
	return &n, nil
}

// KeepConfirmed writes down that a person confirmed a network, as it is described now, for a profile that exists.
// Without it the network is asked about again.
func (h Host) KeepConfirmed(name string, n network.Descriptor) error {
	if n.Version < 2 {
		return nil // the id says it all
	}
	raw, err := n.Encode()
	if err != nil {
		return err
	}
	paths, err := config.PathsFrom(h.Getenv)
	if err == nil {
		err = Folder{Dir: paths.ProfileAnchor(name, n.ID)}.Save(confirmedName, raw)
	}
	if err != nil {
		return fmt.Errorf("the profile is there, and its network has to be confirmed again: %w", err)
	}
	return nil
}

// before is the network that keys or journal are tagged with, else one of those before this one.
func (o *Opened) before(earlier, lost []network.Descriptor) network.Descriptor {
	for _, n := range slices.Concat(lost, earlier) { // what takes more than a yes comes first
		if n.ID == o.tags.keys || n.ID == o.tags.journal {
			return n
		}
	}
	return earlier[len(earlier)-1]
}

// maxLeft bounds how much of what stayed behind is named, so that nothing scrolls away.
const maxLeft = 12

func renewed(now, before network.Descriptor, left []string) *Change {
	c := &Change{Typed: "yes", Words: []string{
		"This program replaced its network, because its contracts were replaced.",
		"  What stays     accounts, addresses, keys; limits, history, export, journal",
		"  What ended     open orders: what they had in escrow was refunded there",
		"  What restarts  play money. What you had cannot be moved, and is shown by",
		"                 coffer balances --earlier",
		"  What you say   your keys are tagged for the old network. Nothing is signed",
		"                 on the new one before you say yes.",
		"  Old network    " + before.Fingerprint(),
		"  New network    " + now.Fingerprint(),
	}}
	for i, line := range left {
		if i == maxLeft {
			c.Words = append(c.Words, fmt.Sprintf("  and %d more in left.txt of the old network's directory",
				len(left)-i))
			break
		}
		c.Words = append(c.Words, "  Left behind    "+line)
	}
	if before.Kind == "" {
		c.Typed = now.Fingerprint()
		c.Words = append(c.Words,
			"Nothing here describes the old network any more, so a yes is not enough. If you still have",
			"its directory (earlier-DATE, with network.json), put it back and start again. If this profile ever",
			"used the service of others, do not confirm: that takes a profile with another name.",
			"Else type the fingerprint of the new network.")
	}
	return c
}

// RealSentence is what a person types before anything is signed on a network of own nodes whose money is real.
const RealSentence = "I use real money"

func realWords() []string {
	return []string{
		"This network is REAL: what you sign moves real money, and there is no operator between you and the chains.",
		"Your nodes tell what you have and what happened: name nodes that you run or trust.",
		"The gas tank is one more key in this profile's vault; keep no more there than gas needs.",
	}
}

// replaced asks for a network whose contracts are others than those confirmed, or were never confirmed in this profile.
func replaced(now network.Descriptor, known *network.Descriptor) *Change {
	what := "The operator replaced contracts or addresses that this profile trusts, or added chains."
	switch {
	case known == nil:
		what, known = "The contracts and addresses of this network have not been confirmed in this profile yet.",
			&network.Descriptor{}
	case known.ID == "":
		what = "What was confirmed of this network cannot be read any more."
	}
	c := &Change{Typed: now.Fingerprint(), Words: append([]string{what,
		"Your keys and accounts stay. Nothing is signed before you confirm the network."}, differences(*known, now)...)}
	if now.Kind == network.Embedded {
		c.Typed = "yes"
		return c
	}
	if now.OnOwnNodes() {
		c.Typed = "yes"
		c.Words[0] = "Your own nodes have a network that is not as you confirmed it."
		return c
	}
	c.Words = append(c.Words, "Ask the operator for the fingerprint, by another way than network.json came by.",
		"It begins with "+now.Fingerprint()[:4]+".")
	return c
}

// Change is what has to be confirmed before anything is signed; nil for nothing.
func (o *Opened) Change() *Change { return o.change }

// Unconfirmed is the error of a command that would sign before a Change is confirmed; nil when there is none.
func (o *Opened) Unconfirmed() error {
	if o.change == nil {
		return nil
	}
	return &cli.AccessError{Problem: o.unconfirmed().Error(), Hint: "it says what changed, and asks"}
}

// Confirm carries out what a person confirmed by typing: keys, journal and applied plans are tagged with the network as
// it is now. It asks for the passphrase of the vault. Anything else than what the Change wants typed is a
// *cli.RefusedError, and nothing was changed. After a crash it may be called again.
func (o *Opened) Confirm(ctx context.Context, typed string) error {
	if o.change == nil {
		return nil
	}
	if typed != o.change.Typed && (o.change.Typed != o.Network.Fingerprint() || !SameFingerprint(typed, o.Network)) {
		return &cli.RefusedError{Problem: "nothing was confirmed, and nothing was changed"}
	}
	if err := o.retag(ctx); err != nil {
		return err
	}
	was, now := o.tags.journal, o.Network.ID
	dir, before := o.Journal("coffer profile confirm")
	o.tags.journal = now
	_, after := o.Journal("coffer profile confirm")
	err := o.followPapers(was)
	if err == nil {
		err = journal.Follow(dir, before, after) // last, as it takes away what says where the papers are
	}
	if err == nil {
		err = o.host.KeepConfirmed(o.Profile.Name, o.Network)
	}
	if err != nil {
		o.tags.journal = was
		return err
	}
	o.change = nil
	return nil
}

// retag moves the keys into the vault of this network.
func (o *Opened) retag(ctx context.Context) error {
	if o.tags.keys == o.Network.ID {
		return nil
	}
	if err := o.Unlock(ctx); err != nil {
		return err
	}
	now, err := o.vaultOf(o.Network.ID)
	if err != nil {
		return err
	}
	if err := now.Retag(ctx, o.vault); err != nil {
		return errors.Join(err, now.Close())
	}
	old := o.vault
	o.vault, o.tags.keys = now, o.Network.ID
	o.close = append(o.close, now.Close)
	return old.Close()
}

// followPapers copies what is kept beside the anchor, such as the list of applied plans. What is there already stays:
// it was written on this network.
func (o *Opened) followPapers(was string) error {
	if was == o.Network.ID {
		return nil
	}
	from, to := o.anchorsOf(was), o.anchorsOf(o.Network.ID)
	files, err := os.ReadDir(from.Dir)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	for _, f := range files {
		name := f.Name()
		if name == anchorName || name == confirmedName || !documentName.MatchString(name) {
			continue
		}
		there, err := to.Load(name)
		if err == nil && there == nil {
			var raw []byte
			if raw, err = from.Load(name); err == nil {
				err = to.Save(name, raw)
			}
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// vaultOf opens the vault of the profile that is tagged with a network.
func (o *Opened) vaultOf(id string) (*vault.Vault, error) {
	return openStore(o.Profile.Vault, o.host.vaultOptions(o.Profile, id, o.Paths.ProfileKeys(o.Profile.Name)))
}

// anchorsOf is the directory of what must outlive a restored journal, for a network.
func (o *Opened) anchorsOf(id string) Folder {
	return Folder{Dir: o.Paths.ProfileAnchor(o.Profile.Name, id)}
}
