package profile

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math/big"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ethereum/go-ethereum/common"
	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"coffer/api/network"
	"coffer/api/networks"
	"coffer/api/secret"
	"coffer/config"
	"coffer/ui/cli"
	"coffer/ui/doctor"
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
	if err != nil {
		m.t.Fatal(err)
	}
	m.makesVault(o)
	if err := o.Close(); err != nil {
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
		Ask: m.ask, WorkFactor: 1,
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

// The view of own nodes knows the caps of the file: what could not be sent is not signed.
func TestTheViewOfOwnNodesKnowsTheCapsOnFees(t *testing.T) {
	m := onNodes(t, network.Test)
	answers := map[string]string{"eth_chainId": `"0x2105"`, "eth_feeHistory": `{"baseFeePerGas":["0x1","0x12a05f200"]}`,
		"eth_getBlockByNumber": `{"number":"0x9","hash":"0x` + strings.Repeat("09", 32) + `","timestamp":"0x1"}`}
	web := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var c struct {
			ID     jsontext.Value `json:"id"`
			Method string         `json:"method"`
		}
		if json.UnmarshalRead(r.Body, &c, json.RejectUnknownMembers(false)) == nil {
			_, _ = fmt.Fprintf(w, `{"jsonrpc":"2.0","id":%s,"result":%s}`, c.ID, answers[c.Method])
		}
	}))
	t.Cleanup(web.Close)
	at := filepath.Join(m.home, networks.Name)
	file, err := networks.Load(at)
	if err != nil {
		t.Fatal(err)
	}
	for gwei, want := range map[int64]string{5: "Base asks for 5 gwei for gas now, and fee_cap_gwei is 5, ", 6: ""} {
		file.Chains[0].RPC, file.Chains[0].FeeCap = []string{web.URL}, big.NewInt(gwei*1e9)
		if err := os.WriteFile(at, file.Encode(), 0o600); err != nil {
			t.Fatal(err)
		}
		o, err := m.opens()
		if err == nil {
			err = o.openView(t.Context())
		}
		if err != nil {
			t.Fatal(err)
		}
		err = o.View().Dear(t.Context(), []uint64{8453})
		if want == "" && err != nil || want != "" && (err == nil || !strings.HasPrefix(err.Error(), want) ||
			!strings.Contains(err.Error(), "allow more at "+at+":")) {
			t.Errorf("a cap of %d gwei: %v", gwei, err)
		}
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

// A set-up takes what it can from the files, gives a node the key that was typed for its host, and keeps that key; what
// the new profile has comes from its own service.
func TestASetUpOnOwnNodesKeepsTheKeysOfItsNodes(t *testing.T) {
	m := onNodes(t, network.Lab)
	path := filepath.Join(m.home, networks.Name)
	raw, err := os.ReadFile(path)
	text := strings.Replace(string(raw), `"https://node.example"`, `"https://node.example/${vault:main}"`, 1)
	if err := errors.Join(err, os.WriteFile(path, []byte(text), 0o600)); err != nil {
		t.Fatal(err)
	}
	need := networks.Need{Name: "main", Host: "https://node.example"}
	const key = "key-of-the-node"
	got := ""
	h := Host{Getenv: config.Getenv([]string{"HOME=" + m.home, "COFFER_DATA=" + m.home,
		"COFFER_CONFIG=" + m.home + "/config.toml"}), Ask: m.ask,
		Embedded: func(ctx context.Context, _ string, o EmbeddedOptions) (Embedded, error) {
			found, err := o.Credential(ctx, need.Name, need.Host)
			got += found
			_, other := o.Credential(ctx, need.Name, "https://other.example")
			if other == nil {
				err = errors.New("another host gets the key")
			}
			return Embedded{Network: m.n, BaseURL: "https://x.invalid/api", APIKey: secret.New([]byte("k")),
				Tanks: func(context.Context) ([]doctor.Tank, error) { return nil, errors.New("no node answers") },
				Close: func() error { return nil }}, err
		},
		CheckNodes: func(context.Context, string, networks.Credential) ([]doctor.Finding, error) {
			return nil, errors.New("certificate")
		},
	}
	p := Plan{Profile: config.Profile{Name: "own", Vault: config.VaultFile},
		NodeKeys:   map[networks.Need]secret.Secret{need: secret.New([]byte(key))},
		Passphrase: secret.New([]byte("correct horse"))}
	var needs []networks.Need
	p.Profile, p.Network, needs, err = h.OnNodes(p.Profile, path)
	if err != nil || len(needs) != 1 || needs[0] != need || p.Profile.Kind != network.Lab ||
		p.Profile.NetworkID != m.n.ID {
		t.Fatalf("%v %v %+v", err, needs, p.Profile)
	}
	if _, _, _, err := h.OnNodes(config.Profile{Name: "mine", Vault: config.VaultFile}, path); err == nil {
		t.Error("a name that is taken")
	}
	if found := h.TryNodes(t.Context(), p); doctor.Well(found) || !strings.Contains(found[0].Text, "certificate") {
		t.Errorf("%+v", found)
	}
	made, err := h.Make(t.Context(), p)
	if err != nil || got != key {
		t.Fatalf("%v, the nodes get %q", err, got)
	}
	if rows := made.Rows(); made.Tank != m.n.Pins.Operator.Hex() || len(rows) != 2 ||
		!strings.Contains(rows[1].Text, "no node answers") {
		t.Errorf("%+v", rows)
	}
	o, err := h.OpenVault(t.Context(), "own")
	if err != nil {
		t.Fatal(err)
	}
	defer o.Close()
	kept, err := o.NodeKey(t.Context(), need.Name, need.Host)
	if err != nil || string(kept.Reveal()) != key {
		t.Error(err)
	}
	two := strings.Replace(text, `{vault:main}"`, `{vault:main}", "https://other.example/${vault:main}"`, 1)
	if err := os.WriteFile(path, []byte(two), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, _, _, err := h.OnNodes(p.Profile, path); err == nil || !strings.Contains(err.Error(), "two hosts") {
		t.Errorf("one key for two hosts: %v", err)
	}
}

func TestWhatChainsLackComesFirst(t *testing.T) {
	const a, b = "Base (8453)", "Optimism (10)"
	all := ByChain([]doctor.Finding{{Area: a, Name: "1"}, {Area: a, Name: "2", Level: doctor.Unknown},
		{Area: a, Name: "3", Level: doctor.Bad}, {Area: a, Name: "4"}, {Area: b, Name: "5"}})
	if len(all) != 2 || all[0].Name != a || all[0].Faults[0].Name != "3" || all[0].Faults[1].Name != "2" ||
		all[0].Words() != "2 things are there, 2 to read" || all[0].Level() != doctor.Bad ||
		all[1].Words() != "1 thing is there" || all[1].Level() != doctor.Good {
		t.Errorf("%+v", all)
	}
}
