package profile

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"coffer/api"
	"coffer/config"
	"coffer/ui/cli"
	"coffer/ui/present"
)

// settle finds the accounts of the profile and chooses the one that is used unless another one is asked for.
func (o *Opened) settle() {
	o.All = o.Profile.WireAccounts(o.Network.Pins)
	o.use(o.Profile.Default())
}

// use makes an EVM account the one that is used, with the Solana account beside it. With a single EVM account there is
// nothing to choose, and the order of the configuration stays.
func (o *Opened) use(at int) {
	o.Accounts = o.All
	if o.Several() {
		o.Accounts = append([]api.Account{o.All[at]},
			slices.DeleteFunc(slices.Clone(o.All), func(a api.Account) bool { return a.IsEVM() })...)
	}
}

// alone leaves the accounts in use and no other.
func (o *Opened) alone() {
	var own []config.Account
	for _, a := range o.Accounts {
		own = append(own, o.Profile.Accounts[slices.Index(o.All, a)])
	}
	o.Profile.Accounts = own
	o.settle()
}

// Several reports whether the profile has more than one EVM account, so that one of them is chosen.
func (o *Opened) Several() bool {
	evm := 0
	for _, a := range o.All {
		if a.IsEVM() {
			evm++
		}
	}
	return evm > 1
}

// Use chooses the EVM account that balances, requests and signatures are of from now on, by its name or address; ""
// keeps the choice. What was begun with another account stays with that one.
func (o *Opened) Use(which string) error {
	if which == "" {
		return nil
	}
	at, err := o.Account(which)
	if err != nil {
		return err
	}
	if !o.All[at].IsEVM() {
		return &cli.UsageError{Problem: "the Solana account is used beside every EVM account: name an EVM account",
			Hint: "`coffer accounts list` prints names and addresses"}
	}
	o.use(at)
	return nil
}

// Account finds an account of the profile by its name or its address.
func (o *Opened) Account(which string) (int, error) {
	for i, a := range o.All {
		if a.AccountAddress == which || a.IsEVM() && strings.EqualFold(a.AccountAddress, which) {
			return i, nil
		}
	}
	for i, a := range o.Profile.Accounts {
		if a.Name != "" && strings.EqualFold(a.Name, which) {
			return i, nil
		}
	}
	return 0, &cli.UsageError{Problem: fmt.Sprintf("profile %q has no such account", o.Profile.Name),
		Hint: "`coffer accounts list` prints names and addresses; either names one"}
}

// NameOf is the name of an account of the profile. An EVM account without one is called after its place among several;
// "" is any other address.
func (o *Opened) NameOf(address string) string {
	n := 0
	for i, a := range o.All {
		if a.IsEVM() {
			n++
		}
		if a.AccountAddress != address && (!a.IsEVM() || !strings.EqualFold(a.AccountAddress, address)) {
			continue
		}
		switch {
		case o.Profile.Accounts[i].Name != "":
			return o.Profile.Accounts[i].Name
		case a.IsEVM() && o.Several():
			return fmt.Sprintf("account %d", n)
		}
		return ""
	}
	return ""
}

// Own are the accounts of the profile with their names, in the order of the configuration.
func (o *Opened) Own() []present.Own {
	out := make([]present.Own, len(o.All))
	for i, a := range o.All {
		out[i] = present.Own{Account: a, Name: o.NameOf(a.AccountAddress),
			Used: slices.Contains(o.Accounts, a), Default: i == o.Profile.Default()}
	}
	return out
}

// Screens is where the screens keep what they show first at the next start: for the account in use, and what all
// accounts of the profile share. The only account keeps everything in one place; once there are several, that is the
// first one's, and moves to a place of its own.
func (o *Opened) Screens() Kept {
	all := Folder{Dir: o.Paths.ProfileScreens(o.Profile.Name)}
	k := Kept{shared: all, own: all, saves: &o.saves}
	first := slices.IndexFunc(o.All, api.Account.IsEVM)
	if first < 0 || len(o.Accounts) == 0 || !o.Accounts[0].IsEVM() {
		return k
	}
	own := Folder{Dir: filepath.Join(all.Dir, strings.ToLower(o.Accounts[0].AccountAddress))}
	_, err := os.Stat(own.Dir)
	switch {
	case err == nil:
		k.own = own
	case !o.Several():
	case o.All[first] != o.Accounts[0], inherit(all, own) == nil:
		k.own = own
	}
	return k
}

// shared are the documents that all accounts of a profile share.
var shared = []string{"templates.json", "views.json"}

// Kept keeps the documents of the screens, as long as the profile is open.
type Kept struct {
	shared, own Folder
	saves       *saves
}

// saves are what is being written for the screens. They save beside what they show, so a profile that closes waits for
// them, and nothing is written behind it.
type saves struct {
	under sync.RWMutex // read while something is written
	ended bool
}

func (s *saves) end() {
	s.under.Lock()
	defer s.under.Unlock()
	s.ended = true
}

var errEnded = errors.New("the profile is closed")

func (k Kept) of(name string) Folder {
	if slices.Contains(shared, name) {
		return k.shared
	}
	return k.own
}

// Load returns the document, or nil when it does not exist.
func (k Kept) Load(name string) ([]byte, error) { return k.of(name).Load(name) }

// Save replaces the document.
func (k Kept) Save(name string, data []byte) error {
	k.saves.under.RLock()
	defer k.saves.under.RUnlock()
	if k.saves.ended {
		return errEnded
	}
	return k.of(name).Save(name, data)
}

// inherit moves the documents of one account to its own folder.
func inherit(from, to Folder) error {
	files, err := os.ReadDir(from.Dir)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if err := os.MkdirAll(to.Dir, 0o700); err != nil {
		return err
	}
	for _, f := range files {
		if f.IsDir() || slices.Contains(shared, f.Name()) || !documentName.MatchString(f.Name()) {
			continue
		}
		if err := os.Rename(filepath.Join(from.Dir, f.Name()), filepath.Join(to.Dir, f.Name())); err != nil {
			return err
		}
	}
	return nil
}
