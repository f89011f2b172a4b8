package accounts

import (
	"math/big"

	"github.com/ethereum/go-ethereum/common"

	"coffer/api"
	"coffer/api/op"
	"coffer/ui/present"
	"coffer/ui/tui/kit"
	"coffer/ui/tui/theme"
)

// account lists the facts about one account.
func (m *Model) account(th theme.Theme, a api.Account) []fact {
	meaning, words := m.follows(a)
	out := []fact{{"address", []kit.Span{address(a.AccountAddress)}}, {"checked", kit.Noted(th, meaning, words)}}
	label, who := signer(a)
	switch {
	case who != "":
		out = append(out, fact{label, append([]kit.Span{address(who)}, m.keyNote(th, who)...)})
	case a.Type == api.AccountSolana:
		out = append(out, fact{"key", append([]kit.Span{kit.Plain("the address is its public key")},
			m.keyNote(th, a.AccountAddress)...)})
	}
	if a.AdminAddress != "" {
		out = append(out, fact{"admin", []kit.Span{address(a.AdminAddress)}})
	}
	out = append(out, m.stateFacts(th, a)...)
	return append(out, plain("signs", signsWords(a.Type)))
}

func address(a string) kit.Span { return kit.Span{Text: present.Address(a), Whole: true} }

// keyOf is the address whose key signs for an account.
func keyOf(a api.Account) string {
	if _, who := signer(a); who != "" {
		return who
	}
	return a.AccountAddress
}

// keyNote says whether the vault has the key; nothing when that is unknown.
func (m *Model) keyNote(th theme.Theme, who string) []kit.Span {
	there, known := m.keys[who]
	switch {
	case !known:
		return nil
	case there:
		return []kit.Span{kit.Plain("  "), {Text: "key here " + th.Sign(theme.Good), Style: th.Good, Whole: true}}
	}
	return []kit.Span{kit.Plain("  "), {Text: "no key here " + th.Sign(theme.Warn), Style: th.Warn, Whole: true}}
}

// signsWords says what a signature takes.
func signsWords(kind string) string {
	switch kind {
	case api.AccountKernelV31:
		return "the signer's key signs each operation"
	case api.AccountKernelV33:
		return "the EOA's own key signs each operation, and once on each chain the delegation"
	case api.AccountRoleBased:
		return "the session key approves each operation, the co-signer of the service too; the admin key can replace " +
			"the session key"
	case api.AccountSolana:
		return "its own key signs each payment; calls run on EVM chains only"
	}
	return "not known: nothing is signed for it"
}

// follows computes the address of an account from its keys and the addresses pinned for the network, and compares it.
func (m *Model) follows(a api.Account) (theme.Meaning, string) {
	pins := m.ctx.Network.Pins
	var none common.Address
	var initData []byte
	from := "computed here from the signer and the pinned factory"
	switch a.Type {
	case api.AccountSolana:
		return theme.None, "nothing to compute: it is a public key"
	case api.AccountKernelV33:
		if common.HexToAddress(a.AccountAddress) == common.HexToAddress(a.SignerAddress) {
			return theme.Good, "it is the signer's own address"
		}
		return theme.Danger, "it is NOT the signer's own address: nothing is signed for it"
	case api.AccountKernelV31:
		initData = op.InitDataECDSA(pins.ECDSAValidator, common.HexToAddress(a.SignerAddress))
	case api.AccountRoleBased:
		from = "computed here from session, admin and pinned co-signer"
		initData = op.InitDataRoleBased(pins.RoleBasedValidator, common.HexToAddress(a.SessionAddress),
			common.HexToAddress(a.AdminAddress), pins.CoSigner)
	default:
		return theme.Unknown, "the address of this type cannot be computed here"
	}
	if pins.Factory == none || pins.KernelV31 == none {
		return theme.Unknown, "not computed: this network pins no account factory"
	}
	switch {
	case op.PredictAddress(pins.Factory, pins.KernelV31, initData,
		new(big.Int)) == common.HexToAddress(a.AccountAddress):
		return theme.Good, from
	case a.Type == api.AccountRoleBased:
		return theme.Unknown, "it does not follow from these keys; that is so once the session key was replaced"
	}
	return theme.Danger, "it does NOT follow from the signer's key: nothing is signed for it"
}

// lockState says where the keys are and whether they are locked; nil when there is nothing to report.
func (m *Model) lockState() []fact {
	v := m.ctx.Vault
	var out []fact
	if v.Where != "" {
		out = append(out, plain("kept in", present.Clean(v.Where, 120)))
	}
	switch {
	case v.Locked == nil:
	case v.Locked():
		out = append(out, plain("state", "locked: the next signature asks for the passphrase"))
	case v.Lock != nil:
		out = append(out, plain("state", "unlocked until they are unused for a while; L locks them now"))
	default:
		out = append(out, plain("state", "unlocked"))
	}
	return out
}
