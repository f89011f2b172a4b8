package setup

import (
	"bytes"
	"unicode/utf8"

	"coffer/api"
	"coffer/api/network"
	"coffer/config"
	"coffer/ui/profile"
	"coffer/wallet/vault"
)

// complete checks what it can without input or output, and marks the rows with mistakes.
func (m *Model) complete() bool {
	bad := func(id, problem string) { m.wrong[id] = problem }
	switch m.step {
	case stepAPIKey:
		m.secrets[rowAPIKey].Look(func(typed []byte) {
			if len(typed) == 0 {
				bad(rowAPIKey, "type or paste the key that the operator gave you")
			} else if bytes.ContainsFunc(typed, func(r rune) bool { return r <= ' ' || r > '~' }) {
				bad(rowAPIKey, "an API key has no blanks and no special characters")
			}
		})
	case stepNodes:
		m.completeNodes(bad)
	case stepFound:
		if m.net.Kind == network.Real && m.value(rowReal) != profile.RealSentence {
			bad(rowReal, "type exactly: "+profile.RealSentence)
		}
	case stepStore:
		m.completeStore(bad)
	case stepOwn:
		m.completeOwn(bad)
	case stepAccounts:
		if m.picks[evmGroup] == "" {
			bad(evmGroup+"="+api.AccountKernelV31, "choose one, or none")
		} else if len(m.accounts()) == 0 {
			bad(evmGroup+"="+none, "a profile has at least one account: choose one here or the Solana account below")
		}
	}
	return len(m.wrong) == 0
}

func (m *Model) completeStore(bad func(id, problem string)) {
	if m.picks[storeGroup] == "" {
		bad(storeGroup+"="+config.VaultFile, "choose where the keys are kept; nothing is chosen for you")
		return
	}
	if m.local() && m.picks[storeGroup] == config.VaultMemory {
		bad(storeGroup+"="+config.VaultMemory,
			"without your own key this would be the demo: choose one of the others")
	}
	if !m.passphrased() {
		return
	}
	m.secrets[rowPass].Look(func(first []byte) {
		if utf8.RuneCount(first) < vault.MinPassphrase {
			bad(rowPass, clean(vault.ErrWeakPassphrase))
			return
		}
		m.secrets[rowAgain].Look(func(again []byte) {
			if !bytes.Equal(first, again) {
				bad(rowAgain, "this is not the same as above")
			}
		})
	})
}

func (m *Model) completeNodes(bad func(id, problem string)) {
	if m.value(rowNodes) == "" {
		bad(rowNodes, "name the file; coffer network init writes one")
	}
	for i, r := range m.nodesRows() {
		if r.secret != nil && r.secret.Empty() {
			bad(r.id, "type or paste the key; it is sent to "+m.needs[i-1].Host+" alone")
		}
	}
}

func (m *Model) completeOwn(bad func(id, problem string)) {
	switch m.picks[ownGroup] {
	case "":
		bad(ownGroup+"="+ownNew, "choose one")
	case ownFile:
		if m.value(rowKeyFile) == "" {
			bad(rowKeyFile, "name the file")
		}
	case ownTyped:
		if m.secrets[rowKeyText].Empty() && len(m.keys) == 0 {
			bad(rowKeyText, "type or paste the key")
		}
	case ownWatch:
	default:
		if m.picks[storeGroup] == config.VaultMemory {
			bad(ownGroup+"="+ownWatch, "nothing is kept, so watch only")
		}
	}
	if m.picks[ownGroup] != ownWatch && m.picks[storeGroup] == config.VaultMemory && m.picks[ownGroup] != "" {
		bad(ownGroup+"="+ownWatch, "you chose to keep nothing, so there is no place for a key")
	}
}
