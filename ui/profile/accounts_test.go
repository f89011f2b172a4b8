package profile

import (
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"coffer/api"
	"coffer/api/catalog"
	"coffer/api/client"
	"coffer/api/network"
	"coffer/api/secret"
	"coffer/config"
	"coffer/ui/present"
)

const (
	keyOfDaily   = "0xf39Fd6e51aad88F6F4ce6aB8827279cffFb92266"
	keyOfSavings = "0x70997970C51812dc3A010C7d01b50e0d17dc79C8"
	ownSolana    = "GThUX1Atko4tqhN2NaiTazWSeFWMuiUvfFnyJyUghFMJ"
)

// several is a profile with two EVM accounts around a Solana account; a third one is at the end.
func several(t *testing.T, state string) *Opened {
	t.Helper()
	c, err := catalog.Load()
	if err != nil {
		t.Fatal(err)
	}
	o := &Opened{Profile: config.Profile{Name: "mine", Accounts: []config.Account{
		{Type: api.AccountKernelV33, SignerAddress: keyOfDaily, DeploymentType: api.DeploymentEIP7702},
		{Type: api.AccountSolana, AccountAddress: ownSolana},
		{Name: "savings", Type: api.AccountKernelV33, SignerAddress: keyOfSavings,
			DeploymentType: api.DeploymentEIP7702},
	}}, Paths: config.Paths{State: state}, Book: &Book{}, Catalog: c}
	o.settle()
	return o
}

func addresses(all []api.Account) []string {
	var out []string
	for _, a := range all {
		out = append(out, a.AccountAddress)
	}
	return out
}

func TestD17_OneEVMAccountIsUsedBesideTheSolanaAccount(t *testing.T) {
	o := several(t, t.TempDir())
	uses := func(evm string) {
		t.Helper()
		if got := addresses(o.Accounts); !slices.Equal(got, []string{evm, ownSolana}) {
			t.Errorf("used: %v", got)
		}
		q := o.Query()
		if !slices.Equal(q.Accounts, []string{"eip155:1:" + evm, "solana:" + ownSolana}) {
			t.Errorf("asked: %v", q.Accounts)
		}
		if got := addresses(o.All); !slices.Equal(got, []string{keyOfDaily, ownSolana, keyOfSavings}) {
			t.Errorf("all: %v", got)
		}
	}
	uses(keyOfDaily)
	for _, which := range []string{"SAVINGS", keyOfSavings, "0x70997970c51812dc3a010c7d01b50e0d17dc79c8", ""} {
		if err := o.Use(which); err != nil {
			t.Errorf("%q: %v", which, err)
		}
		uses(keyOfSavings)
	}
	for _, which := range []string{ownSolana, "spare", "account 1", "0x000000000000000000000000000000000000dEaD"} {
		if err := o.Use(which); err == nil {
			t.Errorf("%q was chosen", which)
		}
		uses(keyOfSavings)
	}
	want := []present.Own{{Account: o.All[0], Name: "account 1", Default: true}, {Account: o.All[1], Used: true},
		{Account: o.All[2], Name: "savings", Used: true}}
	if got := o.Own(); !slices.Equal(got, want) {
		t.Errorf("%+v", got)
	}
	o.Profile.DefaultAccount = "Savings"
	if o.settle(); !o.Own()[2].Default {
		t.Error("the default of the profile is not used")
	}
	uses(keyOfSavings)

	// The order of a configuration with one EVM account stays.
	o.Profile = config.Profile{Accounts: []config.Account{o.Profile.Accounts[1], o.Profile.Accounts[0]}}
	o.settle()
	if got := addresses(o.Accounts); !slices.Equal(got, []string{ownSolana, keyOfDaily}) ||
		o.NameOf(keyOfDaily) != "" || o.Several() {
		t.Errorf("one account: %v", got)
	}
}

// A named account of the profile can be paid by its name while another one is used; the one in use cannot.
func TestD17_TheOtherAccountsAreKnownRecipients(t *testing.T) {
	o := several(t, t.TempDir())
	named := func() []string {
		var out []string
		for _, c := range o.Contacts() {
			out = append(out, c.Name+" "+c.Address)
		}
		return out
	}
	if got := named(); !slices.Equal(got, []string{"savings " + keyOfSavings}) || !o.Known(keyOfSavings) ||
		o.Known(keyOfDaily) {
		t.Errorf("%v", got)
	}
	if err := o.Use("savings"); err != nil {
		t.Fatal(err)
	}
	if got := named(); len(got) != 0 || o.Known(keyOfSavings) {
		t.Errorf("%v", got)
	}
}

// Each account keeps its own documents. What the only account had kept stays with it when another one comes, also when
// it is no longer the first; templates and views are of the profile.
func TestD17_EachAccountKeepsItsOwnScreens(t *testing.T) {
	state := t.TempDir()
	o := several(t, state)
	all := o.Profile.Accounts
	one := func(accounts ...config.Account) Kept {
		o.Profile.Accounts = accounts
		o.settle()
		return o.Screens()
	}
	save := func(k Kept, name, text string) {
		t.Helper()
		if err := k.Save(name, []byte(text)); err != nil {
			t.Fatal(err)
		}
	}
	has := func(k Kept, name, want string) {
		t.Helper()
		if b, err := k.Load(name); err != nil || string(b) != want {
			t.Errorf("%s: %q, %v", name, b, err)
		}
	}
	k := one(all[0])
	save(k, "drafts.json", "of daily")
	save(k, "templates.json", "shared")
	if b, err := os.ReadFile(filepath.Join(state, "mine", "screens", "drafts.json")); string(b) != "of daily" {
		t.Fatal(err)
	}
	k = one(all...)
	has(k, "drafts.json", "of daily")
	save(k, "drafts.json", "of daily, later")
	if err := o.Use("savings"); err != nil {
		t.Fatal(err)
	}
	k = o.Screens()
	has(k, "drafts.json", "")
	has(k, "templates.json", "shared")
	save(k, "drafts.json", "of savings")
	save(k, "views.json", "shared too")
	k = one(all[2], all[0]) // another order
	has(k, "drafts.json", "of savings")
	k = one(all[0]) // alone again
	has(k, "drafts.json", "of daily, later")
	has(k, "views.json", "shared too")
	k = one(all[2])
	has(k, "drafts.json", "of savings")
}

// A guest who looks at a profile sees its default EVM account and no other.
func TestD17_AGuestSeesTheDefaultAccountAlone(t *testing.T) {
	o := several(t, t.TempDir())
	o.Profile.DefaultAccount = "savings"
	g, err := OpenGuest(Guest{Name: "mine", Dir: t.TempDir(), Catalog: o.Catalog,
		Network: network.Descriptor{ID: strings.Repeat("ab", 32), Kind: network.Lab}, Accounts: o.Profile.Accounts,
		First: o.Profile, ReadOnly: "no key to sign with is loaded here",
		Service: client.Options{BaseURL: "https://service.invalid/api", APIKey: secret.New([]byte("k")),
			Transport: http.DefaultTransport}})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = g.Close() }()
	want := []string{keyOfSavings, ownSolana}
	if got := addresses(g.Accounts); !slices.Equal(got, want) {
		t.Errorf("%v", got)
	}
	for _, a := range g.Own() {
		if a.AccountAddress == keyOfDaily {
			t.Error("another account is shown")
		}
	}
	if len(g.All) != 2 || len(g.Profile.Accounts) != 2 || g.Several() || g.NameOf(keyOfSavings) != "savings" ||
		len(g.Contacts()) != len(builtIn()) {
		t.Errorf("%+v", g.All)
	}
}

// TestAClosedProfileHasNothingWrittenBehindIt: the screens save beside what they show, so a save can come after the
// profile was closed, whose directory may be gone by then.
func TestAClosedProfileHasNothingWrittenBehindIt(t *testing.T) {
	for range 20 {
		state := filepath.Join(t.TempDir(), "state")
		o := several(t, state)
		o.close = []func() error{func() error { return os.RemoveAll(state) }}
		k, begun := o.Screens(), make(chan struct{})
		var saving sync.WaitGroup
		for range 4 {
			saving.Go(func() {
				for n := 0; k.Save("drafts.json", []byte("of daily")) == nil; n++ {
					if n == 0 {
						begun <- struct{}{}
					}
				}
			})
			<-begun
		}
		if err := o.Close(); err != nil {
			t.Fatal(err)
		}
		saving.Wait()
		if _, err := os.Stat(state); !os.IsNotExist(err) {
			t.Fatal("something was written afterwards")
		}
	}
}
