package keys

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

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
	"coffer/wallet/vault"
)

// asker asks a person at a terminal; cli.Prompt is one.
type asker interface {
	Say(lines ...string)
	Line(ctx context.Context, question string) (string, error)
	Secret(ctx context.Context, question string) (secret.Secret, error)
	SecretText(ctx context.Context, question string) (secret.Secret, error)
}

// SetUp sets up a profile without screens. Nothing is on disk before the end, and a set-up that is left or fails leaves
// nothing (profile.Host.Make).
type SetUp struct {
	Host   profile.Host
	Prompt asker
	Out    io.Writer
	Random io.Reader // for new keys
}

// Quick sets up a profile on the network inside this program, with one key in an encrypted file and its smart
// account. It asks for the new passphrase alone, which --passphrase-fd may give.
func (s SetUp) Quick(ctx context.Context, name string) error {
	p := profile.Plan{Profile: config.Profile{Name: cmp.Or(name, "mine"), Kind: network.Embedded,
		Vault: config.VaultFile}}
	defer func() { p.Wipe() }()
	if err := s.Host.CanAdd(p.Profile); err != nil {
		return err
	}
	err := s.key(&p, vault.EVM)
	if err != nil {
		return err
	}
	p.Profile.Accounts = []config.Account{{Type: api.AccountKernelV31, SignerAddress: p.Keys[0].Address}}
	if cli.PassphraseGiven(ctx) {
		p.Passphrase, err = s.Prompt.Secret(ctx, cli.PassphraseQuestion(p.Profile.Name))
	} else {
		p.Passphrase, err = fresh(ctx, s.Prompt, "New passphrase of profile "+p.Profile.Name)
	}
	if err != nil {
		return err
	}
	names, err := s.Host.Names()
	if err != nil {
		return err
	}
	p.Default = len(names) == 1 // the demo
	return s.write(ctx, p)
}

// key draws keys for a plan.
func (s SetUp) key(p *profile.Plan, kinds ...vault.Kind) (err error) {
	p.Keys, err = profile.NewKeys(s.Random, kinds...)
	for i, k := range p.Keys {
		if k.Kind == vault.EVM {
			p.Keys[i].Address = common.HexToAddress(k.Address).Hex()
		}
	}
	return err
}

// write makes the profile and says what there is now.
func (s SetUp) write(ctx context.Context, p profile.Plan) error {
	made, err := s.Host.Make(ctx, p)
	if err != nil {
		return err
	}
	w := cli.Columns(s.Out)
	fmt.Fprintf(w, "profile\t%s is set up\n", p.Profile.Name)
	for _, k := range p.Keys {
		fmt.Fprintf(w, "key\t%s  %s\n", k.Address, k.Kind)
	}
	for _, a := range made.Accounts {
		fmt.Fprintf(w, "account\t%s  %s\n", a.AccountAddress, a.Type)
	}
	for _, r := range made.Rows() {
		fmt.Fprintf(w, "%s\t%s\n", r.Label, strings.TrimSpace(r.Address+"  "+r.Text))
	}
	if len(p.Keys) > 0 {
		fmt.Fprintf(w, "backup\tcoffer keys backup FILE --profile %s\n", p.Profile.Name)
	}
	fmt.Fprintf(w, "open it\tcoffer --profile %s\n", p.Profile.Name)
	return w.Flush()
}

// choice is one answer to a question: the words that choose it begin its text.
type choice struct{ value, text string }

// line asks a question. It answers a question mark as the line-by-line mode does: with the subject again, or with the
// meaning of the words.
func (s SetUp) line(ctx context.Context, question string, repeat func()) (string, error) {
	for {
		a, err := s.Prompt.Line(ctx, question)
		switch strings.Join(strings.Fields(a), "") {
		case "?":
			s.Prompt.Say("Type ? terms for what the words mean.")
			repeat()
		case "?terms":
			for _, t := range present.Terms() {
				s.Prompt.Say(t.Name + ": " + t.Text)
			}
		default:
			return a, err
		}
	}
}

// pick asks for one of several choices, by its number or the beginning of its text.
func (s SetUp) pick(ctx context.Context, title string, of ...choice) (string, error) {
	texts := make([]string, len(of))
	show := func() {
		s.Prompt.Say("", title)
		for i, c := range of {
			texts[i] = c.text
			s.Prompt.Say("  " + strconv.Itoa(i+1) + ". " + c.text)
		}
	}
	show()
	for {
		a, err := s.line(ctx, "Type its number or its first word: ", show)
		if err != nil {
			return "", err
		}
		if found := present.Chosen(a, texts); len(found) == 1 {
			return of[found[0]].value, nil
		}
		s.Prompt.Say("\"" + present.Clean(a, 40) + "\" is not one of the choices.")
	}
}

// until asks a question until its answer is good; problem says why it is not.
func (s SetUp) until(ctx context.Context, question string, good func(answer string) (problem string)) error {
	for {
		a, err := s.line(ctx, question, func() {})
		if err != nil {
			return err
		}
		problem := good(a)
		if problem == "" {
			return nil
		}
		s.Prompt.Say(present.Clean(problem, 600))
	}
}

// yes asks a question whose answer is yes or no.
func (s SetUp) yes(ctx context.Context, question string) (yes bool, err error) {
	err = s.until(ctx, question+" Type yes or no: ", func(a string) string {
		switch strings.ToLower(a) {
		case "yes", "y":
			yes = true
		case "no", "n":
		default:
			return "Type yes or no."
		}
		return ""
	})
	return yes, err
}

// Lines asks for everything, one question a line, and returns the name of the profile to be opened now, "" for none.
func (s SetUp) Lines(ctx context.Context) (string, error) {
	s.Prompt.Say("This sets up a profile: a service, your keys and your accounts. Nothing is",
		"written until the end; Ctrl+C leaves before that. A question mark repeats a",
		"question, and ? terms explains words.")
	var p profile.Plan
	defer func() { p.Wipe() }()
	for _, step := range []func(context.Context, *profile.Plan) error{s.askName, s.askService, s.askStore, s.askKeys,
		s.askAccounts, s.check} {
		if err := step(ctx, &p); err != nil {
			return "", err
		}
	}
	s.Prompt.Say("", "This will be set up: profile "+p.Profile.Name+", keys: "+storeText(p.Profile.Vault)+".")
	for _, k := range p.Keys {
		s.Prompt.Say("  key      " + k.Address + " (" + string(k.Kind) + ")")
	}
	var err error
	if p.Default, err = s.yes(ctx, "Should coffer open it when no other profile is named?"); err != nil {
		return "", err
	}
	write, err := s.yes(ctx, "Write it down?")
	if err != nil || !write {
		s.Prompt.Say("Nothing was set up.")
		return "", err
	}
	if err := s.write(ctx, p); err != nil {
		return "", err
	}
	if open, err := s.yes(ctx, "Open it now?"); err != nil || !open {
		return "", err
	}
	return p.Profile.Name, nil
}

func (s SetUp) askName(ctx context.Context, p *profile.Plan) error {
	return s.until(ctx, "Name of the profile, such as mine or team: ", func(a string) string {
		p.Profile = config.Profile{Name: a, Kind: network.Embedded, Vault: config.VaultFile}
		return s.refused(p.Profile)
	})
}

// refused is why the configuration refuses a profile, "" when it takes it.
func (s SetUp) refused(p config.Profile) string {
	if err := s.Host.CanAdd(p); err != nil {
		return profile.Refusal(p.Name, err)
	}
	return ""
}

func problemOf(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}

// askService asks where the profile lives; of a service, for its address, network and API key.
func (s SetUp) askService(ctx context.Context, p *profile.Plan) error {
	kind, err := s.pick(ctx, "Where does it live?",
		choice{string(network.Embedded), "inside this program: your own keys, play money"},
		choice{string(network.Lab), "lab service of a team: test chains, play money"},
		choice{string(network.Real), "real service: real chains, real money"},
		choice{ownNodes, "your own nodes: chains that you reach by JSON-RPC, without a service"})
	if err == nil && kind == ownNodes {
		return s.askNodes(ctx, p)
	}
	p.Profile.Kind = network.Kind(kind)
	if err != nil || p.Profile.Embedded() {
		return err
	}
	if err := s.askNetwork(ctx, p); err != nil {
		return err
	}
	if err := s.until(ctx, "Address of the service, such as https://wallet.example:8443/api: ", func(a string) string {
		p.Profile.BaseURL = strings.TrimSuffix(a, "/")
		return s.refused(p.Profile)
	}); err != nil {
		return err
	}
	if err := s.until(ctx, "CA file, for a service that signs its own certificate (Enter: none): ",
		func(a string) (problem string) {
			if p.Profile.CAFile, problem = absolute(a); problem == "" {
				_, err := p.Profile.Roots()
				problem = problemOf(err)
			}
			return problem
		}); err != nil {
		return err
	}
	p.APIKey, err = s.Prompt.Secret(ctx, "API key for profile "+p.Profile.Name+" (not shown): ")
	return err
}

// ownNodes is the choice of a profile whose chains are behind the person's own nodes.
const ownNodes = "own nodes"

// askNodes asks for the networks file and the keys of its nodes, tries them and, where money is real, has that said.
func (s SetUp) askNodes(ctx context.Context, p *profile.Plan) error {
	s.Prompt.Say(profile.NodesIntro...)
	here, question := s.Host.NodesFile(), "Networks file (networks.toml): "
	if here != "" {
		question = "Networks file (Enter: " + present.Clean(here, 300) + "): "
	}
	var needs []networks.Need
	if err := s.until(ctx, question, func(a string) (problem string) {
		path, problem := absolute(cmp.Or(a, here))
		if problem == "" {
			var err error
			p.Profile, p.Network, needs, err = s.Host.OnNodes(p.Profile, path)
			problem = problemOf(err)
		}
		return problem
	}); err != nil {
		return err
	}
	p.NodeKeys = map[networks.Need]secret.Secret{}
	for _, n := range needs {
		key, err := s.Prompt.Secret(ctx, fmt.Sprintf("Key %s, which is sent to %s (not shown): ", n.Name, n.Host))
		if err != nil {
			return err
		}
		p.NodeKeys[n] = key
	}
	found := s.Host.TryNodes(ctx, *p)
	s.sayNodes(found)
	if !doctor.Well(found) {
		return &cli.UsageError{Problem: profile.NodesRefused,
			Hint: "the lines above say what is missing; coffer network deploy puts contracts there"}
	}
	if p.Profile.Kind != network.Real {
		return nil
	}
	s.Prompt.Say(profile.RealIntro)
	return s.until(ctx, "Type "+profile.RealSentence+": ", func(a string) string {
		if a != profile.RealSentence {
			return "That was not it. Ctrl+C leaves."
		}
		return ""
	})
}

// sayNodes prints what was found on the chains.
func (s SetUp) sayNodes(found []doctor.Finding) {
	for _, c := range profile.ByChain(found) {
		s.Prompt.Say(strings.TrimRight(present.Clean(c.Name, 100)+": "+c.Words(), ": "))
		for _, f := range c.Faults {
			line := present.Clean(f.Name+": "+f.Text, 400)
			if f.Todo != "" {
				line += "; " + present.Clean(f.Todo, 400)
			}
			s.Prompt.Say("  " + f.Level.String() + "  " + line)
		}
	}
}

// askNetwork asks for the network file and the operator's fingerprint, which has to be that of the file.
func (s SetUp) askNetwork(ctx context.Context, p *profile.Plan) error {
	if err := s.until(ctx, "Network file (network.json of the service): ", func(a string) (problem string) {
		if p.Profile.NetworkFile, problem = absolute(a); problem != "" {
			return problem
		}
		var err error
		p.Network, err = s.Host.ReadNetwork(p.Profile.NetworkFile, p.Profile.Kind)
		return problemOf(err)
	}); err != nil {
		return err
	}
	return s.until(ctx, "Fingerprint of the network, from the operator: ", func(a string) string {
		if !profile.SameFingerprint(a, p.Network) {
			return "That is not the fingerprint of this file, which begins with " + p.Network.Fingerprint()[:4] +
				". If the operator's differs, the file is not theirs."
		}
		p.Profile.NetworkID = p.Network.ID
		return ""
	})
}

// absolute is the absolute path of a file; "" of nothing.
func absolute(path string) (abs, problem string) {
	if path == "" {
		return "", ""
	}
	abs, err := filepath.Abs(path)
	return abs, problemOf(err)
}

func storeText(kind string) string {
	return map[string]string{config.VaultFile: "an encrypted file, under your passphrase",
		config.VaultKeyring:     "the keyring of this system, under your passphrase as well",
		config.VaultKeyringOnly: "the keyring of this system alone", config.VaultMemory: "nowhere"}[kind]
}

// askStore asks where the keys are kept, and for the new passphrase.
func (s SetUp) askStore(ctx context.Context, p *profile.Plan) (err error) {
	of := []choice{{config.VaultFile, "encrypted file under a passphrase; works everywhere"},
		{config.VaultKeyring, "system keyring, with a passphrase as well"},
		{config.VaultKeyringOnly, "only the system keyring, without a passphrase"}}
	if p.Profile.Kind == network.Lab && !p.Profile.OwnNodes() {
		of = append(of, choice{config.VaultMemory,
			"nowhere: you type the API key at every start, nothing is signed"})
	}
	if p.Profile.Vault, err = s.pick(ctx, "Where should this profile keep its keys?", of...); err != nil {
		return err
	}
	if err := s.Host.ProbeStore(ctx, p.Profile, p.Network.ID); err != nil {
		s.Prompt.Say(present.Clean(err.Error(), 600))
		return s.askStore(ctx, p)
	}
	if p.Profile.Vault == config.VaultFile || p.Profile.Vault == config.VaultKeyring {
		p.Passphrase, err = fresh(ctx, s.Prompt, "New passphrase of profile "+p.Profile.Name)
	}
	return err
}

// askKeys makes or reads the keys.
func (s SetUp) askKeys(ctx context.Context, p *profile.Plan) error {
	if p.Profile.Vault == config.VaultMemory {
		return nil
	}
	of := []choice{{"new", "make a new key for the EVM chains"}}
	noSolana := p.Profile.OwnNodes() && !p.Network.HasSolana()
	if !noSolana {
		of = append(of, choice{"both", "two new keys, one for the EVM chains and one for Solana"})
	}
	what, err := s.pick(ctx, "Whose key signs?", append(of,
		choice{"typed", "bring one by typing or pasting it: hex, keystore, mnemonic, Solana key"},
		choice{"watch", "watch only: no key here, nothing can be signed"})...)
	switch {
	case err != nil:
		return err
	case what == "new":
		return s.key(p, vault.EVM)
	case what == "both":
		return s.key(p, vault.EVM, vault.Solana)
	case what == "watch":
		return nil
	}
	for {
		text, err := s.Prompt.SecretText(ctx, "Key (not shown): ")
		if err != nil {
			return err
		}
		found, err := vault.ParseKey(text.Reveal(), vault.Hint{})
		text.Wipe()
		if err == nil && noSolana && slices.ContainsFunc(found.Keys, func(k vault.Candidate) bool {
			return k.Kind == vault.Solana
		}) {
			found.Wipe()
			err = errors.New("this file has no Solana chain: this is a key for Solana")
		}
		if err == nil {
			p.Keys = found.Keys
			return nil
		}
		s.Prompt.Say(present.Clean(err.Error(), 300))
	}
}

// askAccounts asks for the accounts of the keys.
func (s SetUp) askAccounts(ctx context.Context, p *profile.Plan) error {
	kind, err := s.pick(ctx, "Which account on the EVM chains?",
		choice{api.AccountKernelV31, "smart account: its owner's key signs"},
		choice{api.AccountKernelV33, "key's own address, delegated (EIP-7702)"},
		choice{api.AccountRoleBased, "role-based: a session key and an admin key"},
		choice{"", "no account on EVM chains"})
	if err != nil {
		return err
	}
	a, ask := config.Account{Type: kind}, func(what string, to *string) error {
		for _, k := range p.Keys {
			if k.Kind == vault.EVM && what != "admin key" {
				*to = common.HexToAddress(k.Address).Hex()
				return nil
			}
		}
		return s.until(ctx, "Address of the "+what+": ", func(text string) string {
			*to = text
			return ""
		})
	}
	switch kind {
	case api.AccountKernelV31, api.AccountKernelV33:
		if kind == api.AccountKernelV33 {
			a.DeploymentType = api.DeploymentEIP7702
		}
		err = ask("owner's key", &a.SignerAddress)
	case api.AccountRoleBased:
		if err = ask("session key", &a.SessionAddress); err == nil {
			err = ask("admin key", &a.AdminAddress)
		}
	}
	p.Profile.Accounts = nil
	if kind != "" {
		p.Profile.Accounts = []config.Account{a}
	}
	for _, k := range p.Keys {
		if k.Kind == vault.Solana {
			p.Profile.Accounts = append(p.Profile.Accounts,
				config.Account{Type: api.AccountSolana, AccountAddress: k.Address})
		}
	}
	if err == nil && s.Host.CanAdd(p.Profile) != nil {
		s.Prompt.Say(present.Clean(s.Host.CanAdd(p.Profile).Error(), 600))
		return s.askAccounts(ctx, p)
	}
	return err
}

// check tries a service, and compares the addresses of the accounts with what it computes.
func (s SetUp) check(ctx context.Context, p *profile.Plan) error {
	if p.Profile.Local() {
		return nil
	}
	all, err := s.Host.ComparePlan(ctx, *p)
	if err != nil {
		return err
	}
	for _, one := range all {
		if !one.Equal() {
			return &cli.RefusedError{Problem: one.Words()}
		}
		s.Prompt.Say(one.Words())
	}
	found := s.Host.Reach(ctx, *p)
	for _, f := range found {
		s.Prompt.Say(strings.TrimSpace(f.Name + ": " + present.Clean(f.Text+". "+f.Todo, 600)))
	}
	if !doctor.Well(found) {
		return &cli.UsageError{Problem: "the service does not work for this profile as it is; nothing was set up",
			Hint: "the lines above say what to do; then run coffer setup again"}
	}
	return nil
}
