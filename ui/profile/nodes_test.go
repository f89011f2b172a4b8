package profile

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ethereum/go-ethereum/common"

	"coffer/api/network"
	"coffer/api/networks"
	"coffer/api/secret"
	"coffer/config"
	"coffer/ui/cli"
)

// nodes is a machine with the files of a network on own nodes, and its profile.
type nodes struct {
	*machine
	n      network.Descriptor // as the service has it
	opened int
	tank   []byte // that the service was given last
}

func onNodes(t *testing.T, kind network.Kind) *nodes {
	t.Helper()
	n := shipped(t)
	n.Version, n.Kind, n.Chains = network.Version, kind, []string{"eip155:8453"}
	n.Genesis = map[string]string{"eip155:8453": "0xab"}
	n.Pins.Paymaster, n.Pins.RoleBasedValidator = network.Window(), network.RoleBasedValidator()
	n.Pins.Escrow = common.Address{}
	n, err := n.WithID()
	if err != nil {
		t.Fatal(err)
	}
	all, err := networks.Shipped()
	if err != nil {
		t.Fatal(err)
	}
	f := networks.File{Kind: kind}
	for _, c := range all {
		if c.ID == 8453 {
			c.RPC, c.Tokens, c.Feeds = []string{"https://node.example"}, nil, nil
			f.Chains = append(f.Chains, c)
		}
	}
	raw, err := n.Encode()
	m := &nodes{machine: newMachine(t), n: n}
	if err := errors.Join(err, os.WriteFile(filepath.Join(m.home, networks.Name), f.Encode(), 0o600),
		os.WriteFile(filepath.Join(m.home, networks.Descriptor), raw, 0o600)); err != nil {
		t.Fatal(err)
	}
	m.names(n.ID)
	m.n.Pins.Operator = common.Address{7} // the gas tank
	return m
}

// names writes the profile.
func (m *nodes) names(id string) {
	m.t.Helper()
	m.configure(fmt.Sprintf("version = 1\n\n[profiles.mine]\nkind = %q\nvault = \"file\"\nnetwork_id = %q\n"+
		"networks = %q\n", m.n.Kind, id, filepath.Join(m.home, networks.Name)))
}

// keeps makes the vault of the profile.
func (m *nodes) keeps() {
	m.t.Helper()
	o, err := m.host().OpenVault(m.t.Context(), "mine")
	if err == nil {
		err = errors.Join(o.vault.Create(m.t.Context(), secret.New([]byte("correct horse"))), o.Close())
	}
	if err != nil {
		m.t.Fatal(err)
	}
}

func (m *nodes) host() Host {
	return Host{
		Getenv: config.Getenv([]string{"HOME=" + m.home, "COFFER_DATA=" + m.home,
			"COFFER_CONFIG=" + m.home + "/config.toml"}),
		Embedded: func(_ context.Context, _ string, o EmbeddedOptions) (Embedded, error) {
			if m.opened++; o.Networks != filepath.Join(m.home, networks.Name) {
				m.t.Errorf("the service is opened on %q", o.Networks)
			}
			m.tank = bytes.Clone(o.Tank.Reveal())
			return Embedded{Network: m.n, BaseURL: "https://x.invalid/api", APIKey: secret.New([]byte("k")),
				Close: func() error { return nil }}, nil
		},
		Ask: m.ask,
	}
}

func (m *nodes) opens() (*Opened, error) {
	o, err := m.host().OpenKeys(m.t.Context(), "mine")
	if err == nil {
		m.t.Cleanup(func() { _ = o.Close() })
	}
	return o, err
}

func TestAProfileOnOwnNodesOpensItsOwnNetworkAlone(t *testing.T) {
	m := onNodes(t, network.Test)
	o, err := m.opens()
	if err != nil {
		t.Fatal(err)
	}
	if o.Network.ID != m.n.ID || len(o.Catalog.Chains()) != 1 || o.Change() != nil || len(o.Contacts()) > 0 ||
		m.tank != nil {
		t.Errorf("%+v, %d chains, %+v, %v", o.Network, len(o.Catalog.Chains()), o.Change(), o.Contacts())
	}
	m.live(o) // signs, and remembers the network
	m.n.Pins.Operator = common.Address{8}
	if o, err = m.opens(); err != nil || o.Change() == nil || o.Change().Typed != "yes" {
		t.Errorf("another gas tank goes unnoticed: %v", err)
	}
	opened := m.opened
	m.names("0x" + strings.Repeat("1", 64))
	if _, err = m.opens(); err == nil || m.opened != opened {
		t.Errorf("another network: %v, opened %d times", err, m.opened-opened)
	}
	m.names(m.n.ID)
	m.n.ID = "0x" + strings.Repeat("2", 64)
	if _, err = m.opens(); err == nil || !strings.Contains(err.Error(), "are of network "+m.n.ID) {
		t.Errorf("data of another network: %v", err)
	}
	if err := os.Remove(filepath.Join(m.home, networks.Descriptor)); err != nil {
		t.Fatal(err)
	}
	if _, err = m.opens(); err == nil || !strings.Contains(cli.Hint(err), "coffer network deploy") {
		t.Errorf("no descriptor: %v", err)
	}
}

// Real money is signed for after a sentence was typed, once for a network.
func TestRealMoneyOnOwnNodesTakesASentence(t *testing.T) {
	m := onNodes(t, network.Real)
	m.keeps()
	o, err := m.opens()
	if err != nil {
		t.Fatal(err)
	}
	if c := o.Change(); c == nil || c.Typed != RealSentence {
		t.Fatalf("%+v", c)
	}
	for _, typed := range []string{"", "yes", o.Network.Fingerprint(), strings.ToUpper(RealSentence)} {
		var refused *cli.RefusedError
		if err := o.Confirm(t.Context(), typed); !errors.As(err, &refused) {
			t.Errorf("%q: %v", typed, err)
		}
	}
	if _, refuses := o.Signer().(refusing); !refuses {
		t.Error("it signs before")
	}
	if err := o.Confirm(t.Context(), RealSentence); err != nil {
		t.Fatal(err)
	}
	if _, refuses := o.Signer().(refusing); refuses {
		t.Error("it signs nothing afterwards")
	}
	if o, err = m.opens(); err != nil || o.Change() != nil {
		t.Errorf("it asks again: %v", err)
	}
}

// The key of the gas tank of real money is the vault's, the same at every opening; without a vault there is none.
func TestTheGasTankOfRealMoneyIsInTheVault(t *testing.T) {
	m := onNodes(t, network.Real)
	if _, err := m.opens(); err == nil || !strings.Contains(cli.Hint(err), "coffer keys init") {
		t.Errorf("without a vault: %v", err)
	}
	m.keeps()
	if _, err := m.opens(); err != nil {
		t.Fatal(err)
	}
	first := m.tank
	if _, err := m.opens(); err != nil || len(first) != 32 || !bytes.Equal(m.tank, first) {
		t.Errorf("%v, %d bytes", err, len(first))
	}
}
