package setup

import (
	"bytes"
	"context"
	"errors"
	"path/filepath"
	"slices"
	"strings"

	tea "charm.land/bubbletea/v2"
	"github.com/ethereum/go-ethereum/common"

	"coffer/api"
	"coffer/api/network"
	"coffer/api/networks"
	"coffer/api/secret"
	"coffer/config"
	"coffer/ui/present"
	"coffer/ui/profile"
	"coffer/ui/tui/kit"
	"coffer/ui/tui/theme"
)

// loadNames reads the names of the existing profiles.
func (m *Model) loadNames() tea.Cmd {
	maker := m.opt.Maker
	return func() tea.Msg {
		names, _ := maker.Names() // the first step reports a broken configuration, where it matters
		return namedMsg{names, maker.NodesFile()}
	}
}

// path makes a typed path absolute; ~ is the home directory.
func (m *Model) path(id string) string {
	p := m.value(id)
	if p == "" {
		return ""
	}
	if rest, ok := strings.CutPrefix(p, "~/"); ok && m.opt.Env.Get("HOME") != "" {
		p = filepath.Join(m.opt.Env.Get("HOME"), rest)
	}
	if abs, err := filepath.Abs(p); err == nil {
		return abs
	}
	return p
}

// lookAtNetwork reads the named network file, once per name, so that its content is shown before the step ends.
func (m *Model) lookAtNetwork() tea.Cmd {
	typed := m.value(rowNetwork)
	if m.step != stepService || typed == "" || m.looked.path == typed || m.current().id == rowNetwork {
		return nil
	}
	m.looked = looked{path: typed, text: "reading it", meaning: theme.None}
	read, path, kind := m.opt.Maker.ReadNetwork, m.path(rowNetwork), m.kind()
	return func() tea.Msg {
		n, err := read(path, kind)
		if err != nil {
			return lookedMsg{looked{typed, clean(err), theme.Danger}}
		}
		return lookedMsg{looked{typed, present.Plural(len(n.Chains), "chain", "chains") +
			", fixed addresses as shipped; its fingerprint begins with " + n.Fingerprint()[:4], theme.Good}}
	}
}

func clean(err error) string { return present.Clean(err.Error(), 600) }

func (m *Model) kind() network.Kind {
	if m.embedded() {
		return network.Embedded
	}
	return network.Kind(m.picks[kindGroup])
}

// embedded reports whether the chains of the profile are inside this program.
func (m *Model) embedded() bool { return m.picks[placeGroup] == placeHere }

// onNodes reports whether the profile is on own nodes.
func (m *Model) onNodes() bool { return m.picks[placeGroup] == placeNodes }

// onlyEVM reports whether the profile is on own nodes without a Solana chain.
func (m *Model) onlyEVM() bool { return m.onNodes() && !m.net.HasSolana() }

// local reports whether the profile's service is inside this program.
func (m *Model) local() bool { return m.embedded() || m.onNodes() }

// walk are the steps of the chosen place, in their order.
func (m *Model) walk() []stepID {
	switch {
	case m.embedded():
		return []stepID{stepName, stepStore, stepOwn, stepAccounts, stepSummary, stepDone}
	case m.onNodes():
		return []stepID{stepName, stepNodes, stepFound, stepStore, stepOwn, stepAccounts, stepSummary, stepDone}
	}
	return []stepID{stepName, stepService, stepAPIKey, stepStore, stepOwn, stepAccounts, stepCheck, stepSummary,
		stepDone}
}

// beside is the step before or after this one.
func (m *Model) beside(by int) stepID {
	all := m.walk()
	return all[max(0, min(slices.Index(all, m.step)+by, len(all)-1))]
}

// secretly is the first step that asks for a secret.
func (m *Model) secretly() stepID {
	switch {
	case m.embedded() || m.onNodes() && len(m.needs) == 0:
		return stepStore
	case m.onNodes():
		return stepNodes
	}
	return stepAPIKey
}

// draft is the profile as entered so far.
func (m *Model) draft() config.Profile {
	p := config.Profile{Name: m.value(rowName), Kind: m.kind(), Vault: m.picks[storeGroup], Accounts: m.accounts()}
	switch {
	case m.embedded():
	case m.onNodes():
		p.Kind, p.Networks, p.NetworkID = m.nodes.Kind, m.nodes.Networks, m.nodes.NetworkID
	default:
		p.BaseURL, p.CAFile = strings.TrimSuffix(m.value(rowURL), "/"), m.path(rowCA)
		p.NetworkFile, p.NetworkID = m.netPath, m.net.ID
	}
	return p
}

func (m *Model) accounts() []config.Account {
	if m.step < stepAccounts {
		return nil
	}
	var out []config.Account
	switch kind := m.picks[evmGroup]; kind {
	case api.AccountKernelV31:
		out = append(out, config.Account{Type: kind, SignerAddress: m.address(rowSigner)})
	case api.AccountKernelV33:
		out = append(out, config.Account{Type: kind, SignerAddress: m.address(rowSigner),
			DeploymentType: api.DeploymentEIP7702})
	case api.AccountRoleBased:
		out = append(out, config.Account{Type: kind, SessionAddress: m.address(rowSession),
			AdminAddress: m.address(rowAdmin)})
	}
	if m.picks[solanaGroup] == yes && !m.onlyEVM() {
		out = append(out, config.Account{Type: api.AccountSolana, AccountAddress: m.value(rowSolana)})
	}
	return out
}

// address is a typed EVM address, with its checksum when it was typed in one case; blanks between groups are ignored.
func (m *Model) address(id string) string {
	s := strings.ReplaceAll(m.value(id), " ", "")
	if common.IsHexAddress(s) && (s == strings.ToLower(s) || s[2:] == strings.ToUpper(s[2:])) {
		return common.HexToAddress(s).Hex()
	}
	return s
}

// plan is everything that was entered, with copies of the secrets: the caller wipes it.
func (m *Model) plan() profile.Plan {
	p := profile.Plan{Profile: m.draft(), Network: m.net, Default: m.picks[defaultGroup] == yes}
	switch {
	case m.onNodes():
		p.NodeKeys = map[networks.Need]secret.Secret{}
		for i, n := range m.needs {
			p.NodeKeys[n] = copied(m.secrets[nodeKeyRow(i)])
		}
	case !m.embedded():
		p.APIKey = copied(m.secrets[rowAPIKey])
	}
	if m.passphrased() {
		p.Passphrase = copied(m.secrets[rowPass])
	}
	for _, k := range m.keys {
		k.Key = secret.New(bytes.Clone(k.Key.Reveal()))
		p.Keys = append(p.Keys, k)
	}
	return p
}

func copied(f *kit.SecretField) (s secret.Secret) {
	f.Look(func(typed []byte) { s = secret.New(bytes.Clone(typed)) })
	return s
}

// advance does the work of a step; its answer is a steppedMsg.
func (m *Model) advance() tea.Cmd {
	switch m.step {
	case stepName:
		return m.advanceName()
	case stepService:
		return m.advanceService()
	case stepNodes:
		return m.advanceNodes()
	case stepStore:
		return m.advanceStore()
	case stepOwn:
		return m.advanceOwn()
	case stepAccounts:
		return m.advanceAccounts()
	}
	m.goTo(m.beside(1))
	return nil
}

func (m *Model) advanceName() tea.Cmd {
	maker, here, p := m.opt.Maker, m.embedded(), config.Profile{Name: m.value(rowName), Kind: network.Embedded,
		Vault: config.VaultFile}
	return m.begin("looking at the configuration", func(_ context.Context, gen int) tea.Msg {
		err := maker.CanAdd(p)
		if err != nil {
			return steppedMsg{gen: gen, wrong: map[string]string{rowName: problem(p.Name, err)}}
		}
		out := steppedMsg{gen: gen}
		if here {
			n, err := maker.Describe()
			if err != nil {
				return steppedMsg{gen: gen, wrong: map[string]string{placeGroup + "=" + placeHere: clean(err)}}
			}
			out.take = func(m *Model) { m.net, m.others, m.compared, m.found = n, nil, nil, nil }
		}
		return out
	})
}

// problem describes what is wrong with the profile, without the place in a file that does not exist yet; for any other
// part of the file it includes the place.
func problem(name string, err error) string {
	return present.Clean(profile.Refusal(name, err), 300)
}

func (m *Model) advanceService() tea.Cmd {
	maker, p, typed, path := m.opt.Maker, m.draft(), m.value(rowFingerprint), m.path(rowNetwork)
	p.Vault = config.VaultFile // not chosen yet
	return m.begin("looking at the network file", func(_ context.Context, gen int) tea.Msg {
		out := steppedMsg{gen: gen, wrong: map[string]string{}}
		if _, err := p.Roots(); err != nil {
			out.wrong[rowCA] = clean(err)
		}
		var n network.Descriptor
		var err error
		at := rowNetwork
		switch {
		case path != "":
			n, err = maker.ReadNetwork(path, p.Kind)
		case typed != "":
			path, n, err = maker.FindNetwork(typed, p.Kind)
		default:
			at, err = rowFingerprint, errors.New("type the fingerprint that the operator tells you")
		}
		if err != nil {
			out.wrong[at] = clean(err)
		}
		p.NetworkFile, p.NetworkID = path, n.ID
		if p.NetworkID == "" { // so that the address is still checked
			p.NetworkID = "0x" + strings.Repeat("0", 64)
		}
		if err := maker.CanAdd(p); err != nil {
			out.wrong[rowURL] = problem(p.Name, err)
		}
		if err == nil && !profile.SameFingerprint(typed, n) {
			out.wrong[rowFingerprint] = "type the operator's; it is not that of this file, which begins with " +
				n.Fingerprint()[:4] + ". If theirs differs, the file is not theirs"
		}
		if len(out.wrong) > 0 {
			return out
		}
		others, _ := maker.OnNetwork(n.ID) // an error about them is no reason to stop
		out.take = func(m *Model) { m.net, m.netPath, m.others = n, path, others }
		return out
	})
}

// advanceNodes reads the networks file. Where its nodes ask for keys, the step stays for them.
func (m *Model) advanceNodes() tea.Cmd {
	maker, path, p := m.opt.Maker, m.path(rowNodes), config.Profile{Name: m.value(rowName), Vault: config.VaultFile}
	read, asked := m.nodes.Networks, m.needs
	return m.begin("reading the files", func(_ context.Context, gen int) tea.Msg {
		p, n, needs, err := maker.OnNodes(p, path)
		if err != nil {
			return steppedMsg{gen: gen, wrong: map[string]string{rowNodes: clean(err)}}
		}
		others, _ := maker.OnNetwork(n.ID) // an error about them is no reason to stop
		same := read == path && slices.Equal(asked, needs)
		return steppedMsg{gen: gen, stay: !same && len(needs) > 0, take: func(m *Model) {
			m.net, m.nodes, m.needs, m.others, m.found, m.compared = n, p, needs, others, nil, nil
			if same {
				return
			}
			for i := range asked {
				m.secrets[nodeKeyRow(i)].Wipe()
			}
			if len(needs) > 0 {
				m.at[stepNodes] = 1 // the first key
			}
		}}
	})
}

// tryNodes asks the nodes for everything that the profile needs.
func (m *Model) tryNodes() tea.Cmd {
	try, p := m.opt.Maker.TryNodes, m.plan()
	m.found = nil
	return m.begin("asking the nodes", func(ctx context.Context, gen int) tea.Msg {
		defer p.Wipe()
		return foundMsg{gen, try(ctx, p)}
	})
}

func (m *Model) advanceStore() tea.Cmd {
	maker, p, id := m.opt.Maker, m.draft(), m.net.ID
	if m.probed == p.Vault {
		m.goTo(m.beside(1))
		return nil
	}
	return m.begin("asking the place of the keys; the system may ask you something",
		func(ctx context.Context, gen int) tea.Msg {
			if err := maker.ProbeStore(ctx, p, id); err != nil {
				return steppedMsg{gen: gen, wrong: map[string]string{storeGroup + "=" + p.Vault: clean(err)}}
			}
			return steppedMsg{gen: gen, take: func(m *Model) { m.probed = p.Vault }}
		})
}

func (m *Model) advanceAccounts() tea.Cmd {
	maker, p := m.opt.Maker, m.plan()
	return m.begin("asking the service for the addresses", func(ctx context.Context, gen int) tea.Msg {
		defer p.Wipe()
		if err := maker.CanAdd(p.Profile); err != nil {
			return steppedMsg{gen: gen, wrong: map[string]string{
				accountRow(p.Profile, err): problem(p.Profile.Name, err)}}
		}
		if p.Profile.Local() {
			return steppedMsg{gen: gen}
		}
		all, err := maker.ComparePlan(ctx, p)
		if err != nil {
			return steppedMsg{gen: gen, stay: true, note: note{theme.Danger, compareWords(err)}}
		}
		for _, one := range all {
			if !one.Equal() {
				return steppedMsg{gen: gen, stay: true, note: note{theme.Danger, present.Clean(one.Words(), 400)}}
			}
		}
		return steppedMsg{gen: gen, take: func(m *Model) { m.compared = all }}
	})
}

// accountRow is the row of an error about the accounts.
func accountRow(p config.Profile, err error) string {
	s := err.Error()
	switch {
	case strings.Contains(s, "solana") || strings.Contains(s, "accounts[1]"):
		return rowSolana
	case strings.Contains(s, "session_address"):
		return rowSession
	case len(p.Accounts) > 0 && p.Accounts[0].Type == api.AccountSolana:
		return rowSolana
	}
	return rowSigner
}

func compareWords(err error) string {
	var no *api.Error
	if errors.As(err, &no) {
		switch no.Name {
		case api.ErrUnauthorized:
			return "the service does not accept the API key; esc goes back to it"
		case api.ErrForbidden:
			return "the API key may not ask for addresses; ask the operator for one with the permission quote, esc " +
				"goes back to it"
		}
	}
	return "the addresses could not be compared: " + clean(err)
}

// check tests whether everything works.
func (m *Model) check() tea.Cmd {
	reach, p := m.opt.Maker.Reach, m.plan()
	m.found = nil
	return m.begin("asking the service", func(ctx context.Context, gen int) tea.Msg {
		defer p.Wipe()
		return foundMsg{gen, reach(ctx, p)}
	})
}

func (m *Model) foundAll(msg foundMsg) {
	if msg.gen != m.gen {
		return
	}
	m.busy, m.found = "", msg.found
	m.at[m.step] = 0
	m.focus()
}

// write makes the profile. The model accepts its answer in every case.
func (m *Model) write() tea.Cmd {
	if m.picks[defaultGroup] == "" {
		m.wrong[defaultGroup+"="+yes] = "choose one"
		m.toWrong()
		return nil
	}
	maker, p := m.opt.Maker, m.plan()
	return m.begin("writing it down; encrypting takes a moment", func(ctx context.Context, _ int) tea.Msg {
		defer p.Wipe()
		has, err := maker.Make(ctx, p)
		return madeMsg{has, err}
	})
}

func (m *Model) made(msg madeMsg) {
	m.busy = ""
	if msg.err != nil {
		m.note = note{theme.Danger, clean(msg.err)}
		if !m.hasSecrets() && m.picks[storeGroup] != config.VaultMemory {
			m.goTo(m.secretly()) // suspended meanwhile
		}
		return
	}
	m.wipe()
	m.note, m.has = note{}, msg.has
	m.goTo(stepDone)
}
