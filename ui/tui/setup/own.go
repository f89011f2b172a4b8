package setup

import (
	"context"
	"errors"
	"os"
	"slices"

	tea "charm.land/bubbletea/v2"
	"github.com/ethereum/go-ethereum/common"

	"coffer/api/secret"
	"coffer/ui/present"
	"coffer/ui/profile"
	"coffer/wallet/vault"
)

// advanceOwn makes or reads the keys. Existing keys stay, unless a choice has changed since.
func (m *Model) advanceOwn() tea.Cmd {
	what := m.picks[ownGroup]
	made := what + " " + m.path(rowKeyFile)
	if what == ownWatch || m.keysFor == made && m.secrets[rowKeyText].Empty() && m.secrets[rowKeyPass].Empty() {
		if what == ownWatch {
			m.dropKeys()
		}
		m.prefill()
		m.goTo(m.beside(1))
		return nil
	}
	random, path, evmOnly := m.opt.Random, m.path(rowKeyFile), m.onlyEVM()
	text, password := copied(m.secrets[rowKeyText]), copied(m.secrets[rowKeyPass])
	return m.begin("making the key", func(ctx context.Context, gen int) tea.Msg {
		defer text.Wipe()
		defer password.Wipe()
		var keys []vault.Candidate
		var err error
		at := rowKeyText
		switch what {
		case ownNew:
			keys, err = profile.NewKeys(random, vault.EVM)
		case ownBoth:
			keys, err = profile.NewKeys(random, vault.EVM, vault.Solana)
		case ownFile:
			at = rowKeyFile
			var file secret.Secret
			if file, err = vault.ReadKeyFile(path); err == nil {
				keys, err = parsed(file, password)
				file.Wipe()
			}
		default:
			keys, err = parsed(text, password)
		}
		if err == nil && evmOnly && slices.ContainsFunc(keys, func(k vault.Candidate) bool {
			return k.Kind == vault.Solana
		}) {
			vault.Imported{Keys: keys}.Wipe()
			keys, err = nil, errors.New(noSolana+": this is a key for Solana")
		}
		if err == nil && ctx.Err() != nil { // nothing waits for the keys any more, and the answer may be dropped
			vault.Imported{Keys: keys}.Wipe()
			keys, err = nil, ctx.Err()
		}
		if err != nil {
			return steppedMsg{gen: gen, wrong: keyProblem(at, path, err)}
		}
		return steppedMsg{gen: gen, keys: keys, take: func(m *Model) {
			m.dropKeys()
			m.keys, m.keysFor = keys, made
			for _, k := range keys {
				m.held = append(m.held, vault.Item{Kind: k.Kind, Address: k.Address})
			}
			m.secrets[rowKeyText].Wipe()
			m.secrets[rowKeyPass].Wipe()
			m.prefill()
		}}
	})
}

func (m *Model) dropKeys() {
	for _, k := range m.keys {
		k.Key.Wipe()
	}
	m.keys, m.keysFor, m.held = nil, "", nil
}

func parsed(text, password secret.Secret) ([]vault.Candidate, error) {
	found, err := vault.ParseKey(text.Reveal(), vault.Hint{Password: password})
	return found.Keys, err
}

// keyProblem puts an error at its row. It never repeats content of a file or typed text.
func keyProblem(at, path string, err error) map[string]string {
	var asks *vault.ImportError
	var file *os.PathError
	switch {
	case errors.As(err, &asks) && asks.NeedsPassword:
		return map[string]string{rowKeyPass: "this keystore has a password: type it here"}
	case errors.Is(err, vault.ErrPassphrase):
		return map[string]string{rowKeyPass: "wrong password"}
	case errors.As(err, &file):
		return map[string]string{at: present.Clean(path+": "+file.Err.Error(), 300)}
	}
	return map[string]string{at: clean(err)}
}

// prefill puts the addresses of the keys into the fields of the accounts. Text that a person typed there stays.
func (m *Model) prefill() {
	put := func(id, address string) {
		if v := m.value(id); v == "" || v == m.filled[id] {
			m.fields[id].Set(address)
			m.filled[id] = address
		}
	}
	for _, k := range m.keys {
		if k.Kind == vault.Solana {
			if m.filled[rowSolana] == "" {
				m.picks[solanaGroup] = yes
			}
			put(rowSolana, k.Address)
			continue
		}
		address := common.HexToAddress(k.Address).Hex()
		put(rowSigner, address)
		put(rowSession, address)
	}
}
