package profile

import (
	"bytes"
	"errors"
	"net/http"
	"path/filepath"
	"strings"
	"testing"

	"coffer/api"
	"coffer/api/catalog"
	"coffer/api/client"
	"coffer/api/network"
	"coffer/api/secret"
	"coffer/config"
	"coffer/wallet/verify"
)

// nowhere is a service that answers no request.
type nowhere struct{}

func (nowhere) RoundTrip(*http.Request) (*http.Response, error) { return nil, errors.New("asked") }

func guestOf(t *testing.T, dir string, signer []byte) Guest {
	t.Helper()
	cat, err := catalog.Load()
	if err != nil {
		t.Fatal(err)
	}
	return Guest{
		Catalog: cat, Name: "own", Title: "alice", Where: "here", Dir: dir,
		Network: network.Descriptor{ID: strings.Repeat("ab", 32), Kind: network.Lab},
		Service: client.Options{BaseURL: "https://service.invalid/api", APIKey: secret.New([]byte("k")),
			Transport: nowhere{}},
		Host: Host{Getenv: func(name string) string {
			t.Errorf("the operator's environment was read: %s", name)
			return ""
		}},
		Signer: secret.New(signer),
	}
}

// A guest's profile consists of what it is given: it does not read the operator's environment, configuration and
// profiles, and keeps everything in its directory.
func TestAGuestsProfileTouchesNothingOfTheOperator(t *testing.T) {
	dir := t.TempDir()
	o, err := OpenGuest(guestOf(t, dir, bytes.Repeat([]byte{7}, 32)))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = o.Close() }()
	if o.Title() != "alice" || len(o.Accounts) != 1 || o.Accounts[0].Type != api.AccountKernelV31 ||
		o.ReadOnly() != "" {
		t.Errorf("%q, %+v, %q", o.Title(), o.Accounts, o.ReadOnly())
	}
	for _, p := range []string{o.Paths.ProfileState("own"), o.Paths.ProfileScreens("own"), o.Paths.ProfileData("own"),
		o.Paths.Config} {
		if !strings.HasPrefix(p, dir+string(filepath.Separator)) {
			t.Errorf("%s is outside of the guest's directory", p)
		}
	}
	o.Wipe()
	if err := o.memory.Use(t.Context(), o.Network.ID, o.Profile.Accounts[0].SignerAddress,
		func(secret.Secret) error { return nil }); err == nil {
		t.Error("the key is there after it was wiped")
	}
}

// TestAGuestBeginsAnewOnANetworkThatWasMadeAnew: its journal is that of one network; the one of before stays.
func TestAGuestBeginsAnewOnANetworkThatWasMadeAnew(t *testing.T) {
	dir := t.TempDir()
	places := map[string]bool{}
	for _, version := range []int{1, 2} {
		for _, digit := range []string{"a", "b"} {
			g := guestOf(t, dir, bytes.Repeat([]byte{7}, 32))
			g.Network = network.Descriptor{Version: version, ID: "0x" + strings.Repeat(digit, 64), Kind: network.Lab}
			o, err := OpenGuest(g)
			if err != nil {
				t.Fatal(err)
			}
			place, _ := o.Journal("a test")
			places[place] = true
			if err := o.Close(); err != nil {
				t.Error(err)
			}
		}
	}
	if len(places) != 3 || !places[filepath.Join(dir, "own")] {
		t.Errorf("journals are in %v", places)
	}
}

// Without a signer every verb refuses; a guest has a signer or a reason why not.
func TestAGuestWithoutASignerSignsNothing(t *testing.T) {
	g := guestOf(t, t.TempDir(), nil)
	if _, err := OpenGuest(g); err == nil {
		t.Error("a guest without a signer and without words was opened")
	}
	g = guestOf(t, t.TempDir(), nil)
	g.ReadOnly, g.Accounts = "it looks at another service",
		[]config.Account{{Type: api.AccountKernelV31, SignerAddress: "0x70997970C51812dc3A010C7d01b50e0d17dc79C8"}}
	o, err := OpenGuest(g)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = o.Close() }()
	if o.ReadOnly() != g.ReadOnly || len(o.Accounts) != 1 {
		t.Errorf("%q, %+v", o.ReadOnly(), o.Accounts)
	}
	s := o.Signer()
	_, one := s.SignUserOp(t.Context(), verify.VerifiedUserOp{})
	_, two := s.SignApprove(t.Context(), verify.VerifiedApprove{})
	_, three := s.SignDelegation(t.Context(), verify.VerifiedDelegation{})
	_, four := s.SignSolana(t.Context(), verify.VerifiedMessage{})
	for _, err := range []error{one, two, three, four} {
		if !errors.Is(err, ErrReadOnly) {
			t.Errorf("%v", err)
		}
	}
}
