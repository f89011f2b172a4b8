package setup

import (
	"strconv"

	"coffer/api"
	"coffer/api/network"
	"coffer/config"
	"coffer/ui/doctor"
	"coffer/ui/profile"
	"coffer/ui/tui/kit"
)

// row is one line that can have the keyboard: a text field, a hidden field, one of several choices, or a button.
type row struct {
	id     string
	label  string
	field  *kit.Field
	secret *kit.SecretField
	group  string // of a choice
	value  string
	words  string // one plain sentence below a choice
	off    string // why a choice or a button does not work
	button bool
}

// The rows.
const (
	rowName        = "name"
	rowURL         = "address"
	rowCA          = "ca"
	rowNetwork     = "network"
	rowFingerprint = "fingerprint"
	rowAPIKey      = "api-key"
	rowNodes       = "networks"
	rowNodeKey     = "node-key-" // and the number of the key
	rowReal        = "real"
	rowPass        = "passphrase"
	rowAgain       = "again"
	rowKeyFile     = "key-file"
	rowKeyText     = "key-text"
	rowKeyPass     = "key-password"
	rowSigner      = "signer"
	rowSession     = "session"
	rowAdmin       = "admin"
	rowSolana      = "solana"
	rowContinue    = "continue"
	rowAgainCheck  = "check-again"
)

// The groups of choices, and those of their values that no other package names.
const (
	placeGroup   = "place"
	kindGroup    = "kind"
	storeGroup   = "store"
	ownGroup     = "own"
	evmGroup     = "evm"
	solanaGroup  = "with-solana"
	defaultGroup = "default"

	placeHere    = "here"
	placeService = "service"
	placeNodes   = "nodes"

	ownNew   = "new"
	ownBoth  = "both"
	ownFile  = "file"
	ownTyped = "typed"
	ownWatch = "watch"
	yes      = "yes"
	no       = "no"
	none     = "none"
)

func (m *Model) text(id, label, hint string) row {
	f := m.fields[id]
	f.Hint = hint
	return row{id: id, label: label, field: f}
}

func (m *Model) hidden(id, label string) row {
	if m.secrets[id] == nil {
		m.secrets[id] = kit.NewSecretField()
	}
	return row{id: id, label: label, secret: m.secrets[id]}
}

func choice(group, value, label, words string) row {
	return row{id: group + "=" + value, group: group, value: value, label: label, words: words}
}

func (r row) offWhen(off bool, why string) row {
	if off {
		r.off = why
	}
	return r
}

func goOn(label string) row { return row{id: rowContinue, label: label, button: true} }

// rows are the present rows of the step.
func (m *Model) rows() []row {
	switch m.step {
	case stepName:
		return []row{m.text(rowName, "name", "1 to 32 lower-case letters, digits, - and _, such as mine"),
			choice(placeGroup, placeHere, "my own, inside this program",
				"own keys on chains of this machine, play money"),
			choice(placeGroup, placeService, "a service", "of a team or a company; its operator gives you an API key"),
			choice(placeGroup, placeNodes, "your own nodes", "chains that you reach by JSON-RPC, without a service"),
			goOn("continue")}
	case stepService:
		return []row{
			m.text(rowURL, "address", "from the operator, such as https://wallet.example:8443/api"),
			m.text(rowCA, "CA file", "only for a service that signs its own certificate, as coffer serve does"),
			m.text(rowNetwork, "network file",
				"network.json of the service; empty: looked for on this machine by the fingerprint"),
			m.text(rowFingerprint, "fingerprint", "from the operator, by another way than the file came"),
			choice(kindGroup, string(network.Lab), "LAB", "test chains, play money; every coffer serve is one"),
			choice(kindGroup, string(network.Real), "REAL", "real chains, real money"),
			goOn("continue"),
		}
	case stepAPIKey:
		return []row{m.hidden(rowAPIKey, "API key"), goOn("continue")}
	case stepNodes:
		return m.nodesRows()
	case stepFound:
		return m.foundRows()
	case stepStore:
		return m.storeRows()
	case stepOwn:
		return m.ownRows()
	case stepAccounts:
		return m.accountRows()
	case stepCheck:
		return m.checkRows()
	case stepSummary:
		return []row{
			choice(defaultGroup, yes, "use it from now on", "coffer opens this profile when nothing else is named"),
			choice(defaultGroup, no, "keep the default as it is", "open it with coffer --profile "+m.value(rowName)),
			goOn("write it down"),
		}
	}
	return []row{goOn("open the dashboard")}
}

// checkRows go on when everything is well, or check again.
func (m *Model) checkRows() []row {
	return []row{
		goOn("continue").offWhen(m.busy != "" || m.found == nil || !doctor.Well(m.found),
			"first everything that is marked ✗ has to be well; esc goes back and keeps what you entered"),
		{id: rowAgainCheck, label: "check again", button: true},
	}
}

func (m *Model) nodesRows() []row {
	rows := []row{m.text(rowNodes, "networks file", "networks.toml, which coffer network init writes")}
	if m.nodes.Networks == m.path(rowNodes) {
		for i, n := range m.needs {
			rows = append(rows, m.hidden(nodeKeyRow(i), "key "+n.Name))
		}
	}
	return append(rows, goOn("ask the nodes and continue"))
}

func nodeKeyRow(i int) string { return rowNodeKey + strconv.Itoa(i) }

func (m *Model) foundRows() []row {
	rows := m.checkRows()
	if m.net.Kind == network.Real && rows[0].off == "" {
		rows = append([]row{m.text(rowReal, "real money", "type: "+profile.RealSentence)}, rows...)
	}
	return rows
}

func (m *Model) storeRows() []row {
	const real = "a profile with real money keeps its API key: choose one of the others"
	rows := []row{
		choice(storeGroup, config.VaultFile, "encrypted file",
			"one file under a passphrase of yours; works everywhere, also over SSH"),
		choice(storeGroup, config.VaultKeyring, "keyring",
			"in the keyring of this system, and encrypted under a passphrase of yours as well"),
		choice(storeGroup, config.VaultKeyringOnly, "keyring only",
			"in the keyring of this system, without a passphrase: anyone who can use the keyring has the keys"),
		choice(storeGroup, config.VaultMemory, "nowhere",
			"nothing is kept: you type the API key at every start, and nothing can be signed").
			offWhen(m.embedded(), "without your own key this would be the demo: choose one of the others").
			offWhen(m.onNodes(), "a profile on own nodes keeps its keys: choose one of the others").
			offWhen(m.kind() == network.Real, real),
	}
	if m.passphrased() {
		rows = append(rows, m.hidden(rowPass, "passphrase"), m.hidden(rowAgain, "once more"))
	}
	return append(rows, goOn("continue"))
}

// passphrased reports whether the chosen place of keys has a passphrase.
func (m *Model) passphrased() bool {
	return m.picks[storeGroup] == config.VaultFile || m.picks[storeGroup] == config.VaultKeyring
}

// noSolana is why there is nothing of Solana on own nodes whose file has no Solana chain.
const noSolana = "this file has no Solana chain"

func (m *Model) ownRows() []row {
	nowhere := m.picks[storeGroup] == config.VaultMemory
	const why = "you chose to keep nothing, so there is no place for a key; esc goes back to that"
	rows := []row{
		choice(ownGroup, ownNew, "make a new key", "for the EVM chains").offWhen(nowhere, why),
		choice(ownGroup, ownBoth, "make two new keys", "one for the EVM chains, one for Solana").offWhen(nowhere, why).
			offWhen(m.onlyEVM(), noSolana),
		choice(ownGroup, ownFile, "bring one from a file",
			"that only you can read (mode 0600): hex, keystore, Solana key, mnemonic").offWhen(nowhere, why),
		choice(ownGroup, ownTyped, "bring one by typing or pasting it",
			"unseen: hex, keystore, Solana key, mnemonic").offWhen(nowhere, why),
		choice(ownGroup, ownWatch, "watch only",
			"no key here: balances, history and quotes, and nothing can be signed"),
	}
	switch m.picks[ownGroup] {
	case ownFile:
		rows = append(rows, m.text(rowKeyFile, "key file", ""), m.hidden(rowKeyPass, "its password"))
	case ownTyped:
		rows = append(rows, m.hidden(rowKeyText, "key"), m.hidden(rowKeyPass, "its password"))
	}
	return append(rows, goOn("continue"))
}

func (m *Model) accountRows() []row {
	rows := []row{
		choice(evmGroup, api.AccountKernelV31, "smart account",
			"its owner's key signs; its first operation deploys it"),
		choice(evmGroup, api.AccountKernelV33, "the key's own address (EIP-7702)",
			"an EOA, delegated on each chain when it first acts there"),
		choice(evmGroup, api.AccountRoleBased, "session and admin keys",
			"the session key signs every day together with the service, the admin key replaces it"),
		choice(evmGroup, none, "none", "no account on EVM chains"),
	}
	switch m.picks[evmGroup] {
	case api.AccountKernelV31, api.AccountKernelV33:
		rows = append(rows, m.text(rowSigner, "owner's key", "the address of the key that signs"))
	case api.AccountRoleBased:
		rows = append(rows, m.text(rowSession, "session key", "its address"),
			m.text(rowAdmin, "admin key", "its address; keep that key away from this machine"))
	}
	if !m.onlyEVM() {
		rows = append(rows, choice(solanaGroup, yes, "with a Solana account",
			"it pays and receives; calls run on EVM chains"), choice(solanaGroup, no, "without", "EVM chains only"))
		if m.picks[solanaGroup] == yes {
			rows = append(rows, m.text(rowSolana, "Solana address", "base58"))
		}
	}
	if m.local() {
		return append(rows, goOn("continue"))
	}
	return append(rows, goOn("compare with the service and continue"))
}
