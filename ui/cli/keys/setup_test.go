package keys

import (
	"bytes"
	"context"
	"crypto/rand"
	"errors"
	"os"
	"strings"
	"testing"

	"github.com/ethereum/go-ethereum/common"

	"coffer/api"
	"coffer/api/network"
	"coffer/api/networks"
	"coffer/api/secret"
	"coffer/config"
	"coffer/ui/cli"
	"coffer/ui/doctor"
	"coffer/ui/present"
	"coffer/ui/profile"
)

// person answers each question by the first of their answers that belongs to it.
type person struct {
	*testing.T
	answers []string // question, answer, question, answer …
	said    strings.Builder
}

func (p *person) Say(lines ...string) { p.said.WriteString(strings.Join(lines, "\n") + "\n") }

func (p *person) Line(_ context.Context, question string) (string, error) {
	p.Say(question)
	if len(p.answers) < 2 || !strings.Contains(question, p.answers[0]) {
		return "", cli.ErrInterrupted
	}
	answer := p.answers[1]
	p.answers = p.answers[2:]
	p.Say("> " + answer)
	return answer, nil
}

func (p *person) Secret(ctx context.Context, question string) (secret.Secret, error) {
	answer, err := p.Line(ctx, question)
	return secret.New([]byte(answer)), err
}

func (p *person) SecretText(ctx context.Context, question string) (secret.Secret, error) {
	return p.Secret(ctx, question)
}

// setUp is a set-up on an empty home, with a network inside this program that is made when it is opened.
func setUp(t *testing.T, answers ...string) (*desk, *person, SetUp) {
	t.Helper()
	d, p := newDesk(t), &person{T: t, answers: answers}
	n, err := profile.Host{}.Describe()
	if err == nil {
		n.Version, n.Chains, n.Genesis = 1, []string{"eip155:1"}, map[string]string{"eip155:1": "0xab"}
		n, err = n.WithID()
	}
	if err != nil {
		t.Fatal(err)
	}
	host := profile.Host{Getenv: d.getenv, Keyring: d.ring,
		Embedded: func(context.Context, string, profile.EmbeddedOptions) (profile.Embedded, error) {
			return profile.Embedded{Network: n, BaseURL: "https://embedded.invalid", APIKey: secret.New([]byte("key")),
				Close: func() error { return nil }}, nil
		}}
	return d, p, SetUp{Host: host, Prompt: p, Out: &d.out, Random: rand.Reader}
}

// profileOf is a profile as the configuration has it.
func (d *desk) profileOf(name string) config.Profile {
	d.Helper()
	file, err := config.Load(d.dir + "/config.toml")
	if err != nil {
		d.Fatal(err)
	}
	p, err := file.Profile(name)
	if err != nil {
		d.Fatal(err)
	}
	return p
}

func exists(path string) bool {
	_, err := os.Lstat(path)
	return err == nil
}

// TestD16_OneCommandMakesAProfileOfOnesOwn: no question but the passphrase, and the result names key and account.
func TestD16_OneCommandMakesAProfileOfOnesOwn(t *testing.T) {
	d, p, s := setUp(t, "New passphrase of profile mine", "a phrase of many letters", "once more",
		"a phrase of many letters")
	if err := s.Quick(t.Context(), "mine"); err != nil || len(p.answers) > 0 {
		t.Fatal(err, p.said.String())
	}
	got := d.profileOf("") // the default now
	if got.Name != "mine" || got.Kind != network.Embedded || got.Vault != config.VaultFile || len(got.Accounts) != 1 ||
		got.Accounts[0].Type != api.AccountKernelV31 ||
		!strings.Contains(d.out.String(), got.Accounts[0].SignerAddress) ||
		!strings.Contains(d.out.String(), "account  0x") {
		t.Errorf("%+v\n%s", got, d.out.String())
	}
	var usage *config.Error
	if err := s.Quick(t.Context(), "mine"); !errors.As(err, &usage) {
		t.Errorf("a second time: %v", err)
	}
}

// TestL8_SetUpAsksLineByLine: choices are taken by number or word, a wrong answer is asked again, and nothing is
// written before the end.
func TestL8_SetUpAsksLineByLine(t *testing.T) {
	const pass = "a phrase of many letters"
	answers := []string{"Name", "My Wallet", "Name", "Wäl.t", "Name", "?", "Name", "own",
		"number or its first word", "?", "number or its first word", "? terms", "number or its first word", "moon",
		"number or its first word", "inside", "number or its first word", "1", "New passphrase", pass, "once more",
		pass,
		"number or its first word", "two", "number or its first word", "smart", "no other profile is named", "no",
		"Write it down?", "yes", "Open it now?", "no"}
	d, p, s := setUp(t, answers...)
	if name, err := s.Lines(t.Context()); err != nil || name != "" {
		t.Fatal(err, p.said.String())
	}
	got := d.profileOf("own")
	if len(got.Accounts) != 2 || got.Accounts[1].Type != api.AccountSolana || d.profileOf("").Name == "own" {
		t.Errorf("%+v\n%s", got, p.said.String())
	}
	said := p.said.String()
	if strings.Count(said, "\na profile name has 1 to 32 lower-case letters") != 2 ||
		strings.Contains(said, "profiles.") || strings.Count(said, "Where does it live?") != 2 ||
		!strings.Contains(said, "Type ? terms") || !strings.Contains(said, present.Terms()[0].Text) {
		t.Error(said)
	}
	for line := range strings.SplitSeq(said[:strings.Index(said, "Name of")], "\n") {
		if len(line) > 80 {
			t.Errorf("%d columns: %s", len(line), line)
		}
	}
	said = strings.ReplaceAll(said, "> Wäl.t", "")
	if !strings.Contains(said, "lower-case letters") || !strings.Contains(said, `"moon" is not one of the choices`) ||
		bytes.ContainsFunc([]byte(said), func(r rune) bool { return r > 126 }) {
		t.Error(said)
	}
	for cut := 2; cut < len(answers)-2; cut += 2 { // left at any question
		d, p, s := setUp(t, answers[:cut]...)
		if _, err := s.Lines(t.Context()); !errors.Is(err, cli.ErrInterrupted) {
			t.Fatalf("%v\n%s", err, p.said.String())
		}
		if paths, _ := config.PathsFrom(d.getenv); exists(paths.Config) || exists(paths.ProfileData("own")) {
			t.Errorf("something was written after %q", answers[:cut])
		}
	}
}

// TestL8_LinesSetUpAService: the fingerprint is compared with that of the file, and a service that does not answer
// leaves nothing behind.
func TestL8_LinesSetUpAService(t *testing.T) {
	base := newDesk(t)
	n, err := network.Decode(descriptor(t))
	if err != nil {
		t.Fatal(err)
	}
	const word = "number or its first word"
	d, p, s := setUp(t, "Name", "team", word, "lab", "Network file", base.dir+"/none.json", "Network file",
		base.dir+"/network.json", "Fingerprint", "0000", "Fingerprint", n.Fingerprint(), "Address of the service",
		"http://localhost:1/api", "Address of the service", "https://localhost:1/api", "CA file", "", "API key",
		"coffer_key_1", word, "only", word, "make", word, "smart")
	_, err = s.Lines(t.Context())
	said := p.said.String()
	if err == nil || len(p.answers) > 0 || !strings.Contains(said, "no such file") ||
		!strings.Contains(said, "That is not the fingerprint of this file") ||
		strings.Contains(said, n.Fingerprint()+".") {
		t.Errorf("%v\n%s", err, said)
	}
	if exists(d.dir + "/config.toml") {
		t.Error("something was written")
	}
}

// TestD16_KeysNewOffersTheAccount: yes adds it, no and a missing terminal say how.
func TestD16_KeysNewOffersTheAccount(t *testing.T) {
	const later = "coffer accounts add --profile team --type "
	for answer, want := range map[string]int{"yes\n": 1, "no\n": 0} {
		d, signer := team(t)
		if said := d.said.String(); !strings.Contains(said, "New key of profile team") ||
			!strings.Contains(said, later+"kernel-v3.1-ecdsa --signer "+signer) {
			t.Error(said)
		}
		d.typed = answer
		if code := d.run("keys", "new", "--kind", "solana"); code != 0 {
			t.Fatal(d.said.String())
		}
		said, key := d.said.String(), strings.TrimSpace(d.out.String())
		if got := d.profileOf("team").Accounts; len(got) != want || want == 1 && got[0].AccountAddress != key ||
			!strings.Contains(said, "Add the Solana account of this key to the profile?") ||
			want == 0 && !strings.Contains(said, later+"solana --address "+key) {
			t.Errorf("%+v\n%s", got, said)
		}
	}
}

// nodesFiles are the files of a network on own nodes, and the network as the service has it.
func nodesFiles(t *testing.T, dir string, kind network.Kind) network.Descriptor {
	t.Helper()
	n, err := network.Decode(descriptor(t))
	if err != nil {
		t.Fatal(err)
	}
	n.Version, n.Kind, n.Chains = network.Version, kind, []string{"eip155:8453"}
	n.Genesis, n.Deployments = map[string]string{"eip155:8453": "0xab"}, nil
	n.Pins.Paymaster, n.Pins.RoleBasedValidator = network.Window(), network.RoleBasedValidator()
	n.Pins.Escrow, n.Pins.Solver = common.Address{}, common.Address{}
	n, err = n.WithID()
	raw, errRaw := n.Encode()
	all, errAll := networks.Shipped()
	if err := errors.Join(err, errRaw, errAll); err != nil {
		t.Fatal(err)
	}
	f := networks.File{Kind: kind}
	for _, c := range all {
		if c.ID == 8453 {
			c.RPC, c.Tokens, c.Feeds = []string{"https://node.example"}, nil, nil
			f.Chains = append(f.Chains, c)
		}
	}
	if err := errors.Join(os.WriteFile(dir+"/networks.toml", f.Encode(), 0o600),
		os.WriteFile(dir+"/network.json", raw, 0o600)); err != nil {
		t.Fatal(err)
	}
	n.Pins.Operator = common.Address{7}
	return n
}

// TestL8_LinesSetUpOwnNodes: the nodes are tried first, real money takes a sentence, and the gas tank is shown.
func TestL8_LinesSetUpOwnNodes(t *testing.T) {
	const word = "number or its first word"
	d, p, s := setUp(t)
	n := nodesFiles(t, d.dir, network.Real)
	p.answers = []string{"Name", "mine", word, "your", "Networks file", d.dir + "/none.toml", "Networks file",
		d.dir + "/networks.toml", "Type " + profile.RealSentence, "yes", "Type " + profile.RealSentence,
		profile.RealSentence, word, "only", word, "make", word, "smart", "no other profile", "yes", "Write it down?",
		"yes", "Open it now?", "no"}
	s.Host.Embedded = func(_ context.Context, _ string, o profile.EmbeddedOptions) (profile.Embedded, error) {
		if o.Networks != d.dir+"/networks.toml" {
			t.Errorf("the service is opened on %q", o.Networks)
		}
		return profile.Embedded{Network: n, BaseURL: "https://embedded.invalid", APIKey: secret.New([]byte("key")),
			Tanks: func(context.Context) ([]doctor.Tank, error) {
				return []doctor.Tank{{Chain: "Base", Has: "0.01 ETH", Operations: 160}}, nil
			},
			Close: func() error { return nil }}, nil
	}
	s.Host.CheckNodes = func(context.Context, string, networks.Credential) ([]doctor.Finding, error) {
		return []doctor.Finding{{Area: "Base (8453)", Name: "EntryPoint", Text: "0x00"},
			{Area: "Base (8453)", Name: "EIP-7702", Level: doctor.Warn, Text: "the chain lacks it",
				Todo: "no delegation"},
			{Area: "Base (8453)", Name: "tokens", Text: "3 of 3"}}, nil
	}
	if _, err := s.Lines(t.Context()); err != nil || len(p.answers) > 0 {
		t.Fatalf("%v %v\n%s", err, p.answers, p.said.String())
	}
	got := d.profileOf("mine")
	if got.Kind != network.Real || got.NetworkID != n.ID || !got.OwnNodes() || len(got.Accounts) != 1 ||
		!strings.Contains(p.said.String(), "Base (8453): 2 things are there, 1 to read\n"+
			"  look  EIP-7702: the chain lacks it; no delegation\n") ||
		strings.Contains(p.said.String(), "for Solana") ||
		!strings.Contains(d.out.String(), n.Pins.Operator.Hex()+"  pays for gas") ||
		!strings.Contains(d.out.String(), "0.01 ETH on Base, good for about 160 operations") {
		t.Errorf("%+v\n%s\n%s", got, p.said.String(), d.out.String())
	}
	o, err := s.Host.OpenKeys(t.Context(), "mine")
	if err != nil || o.Change() != nil {
		t.Fatalf("it asks for the sentence again: %v", err)
	}
	if err := o.Close(); err != nil {
		t.Error(err)
	}
}

func TestL8_NodesThatLackSomethingAreNotSetUp(t *testing.T) {
	d, p, s := setUp(t)
	nodesFiles(t, d.dir, network.Lab)
	p.answers = []string{"Name", "mine", "number or its first word", "your", "Networks file", d.dir + "/networks.toml"}
	s.Host.CheckNodes = func(context.Context, string, networks.Credential) ([]doctor.Finding, error) {
		return []doctor.Finding{{Area: "Base (8453)", Name: "Window", Level: doctor.Bad, Text: "no code at 0x1"}}, nil
	}
	var refused *cli.UsageError
	if _, err := s.Lines(t.Context()); !errors.As(err, &refused) || exists(d.dir+"/config.toml") ||
		!strings.Contains(p.said.String(), "bad  Window: no code at 0x1") {
		t.Errorf("%v\n%s", err, p.said.String())
	}
}
