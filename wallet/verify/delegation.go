package verify

import (
	"math/big"
	"slices"
	"strconv"

	"github.com/ethereum/go-ethereum/common"

	"coffer/api"
	"coffer/api/caip"
	"coffer/api/op"
)

// maxAuthorizationNonce bounds the EOA nonce that is believed when nothing is known about the EOA.
const maxAuthorizationNonce = 1 << 32

// delegation checks the EIP-7702 authorization that an operation asks for (TH-D1 to D5; protocol §2.12).
func (j *judge) delegation(acc account, w api.ChainOperation, o *operation) {
	path := o.role.path + "/delegation"
	if w.Delegation == nil {
		j.pass("D1", "the service asks for no delegation")
		return
	}
	if !j.must(acc.kind == api.AccountKernelV33, "D1",
		"only an EOA that acts as a smart account needs a delegation", path, "none",
		w.Delegation.ContractAddress) {
		return
	}
	j.must(!j.Limits.NeverDelegate, "Y7", "your policy allows delegations", path, "no delegation",
		w.Delegation.ContractAddress)
	j.pass("D5", "the delegation arrives unsigned") // the class table knows no signature of it
	if caip.CheckEIP55(w.Delegation.ContractAddress) != nil {
		j.add(Refuse, "L5", "An address is malformed or has a wrong checksum.", path+"/contractAddress",
			"lower case or a correct checksum", w.Delegation.ContractAddress)
		return
	}
	delegate := common.HexToAddress(w.Delegation.ContractAddress)
	pinned := j.Network.Pins.KernelV33
	known := delegate == pinned || slices.Contains(j.Limits.Delegates, delegate)
	if !j.must(known, "D2", "the delegation is to the pinned account code and nothing else", path+"/contractAddress",
		pinned.Hex(), delegate.Hex()) {
		return
	}
	a := op.Authorization{ChainID: new(big.Int).SetUint64(o.role.chainID), Address: delegate, Nonce: w.Delegation.Nonce}
	if err := a.Check(); err != nil {
		j.codec(err, "D3", "the delegation is for one chain and one plausible nonce", o.role.path)
		return
	}
	j.pass("D3", "the delegation is for the operation's chain only")
	if j.delegationNonce(acc, a, path+"/nonce") {
		o.delegation = &a
	}
}

// delegationNonce: an authorization with a later nonce than the next would stay good for a time nobody can foresee
// (TH-D4).
func (j *judge) delegationNonce(acc account, a op.Authorization, path string) bool {
	got := strconv.FormatUint(a.Nonce, 10)
	next, known := j.h.NextAuthorization(acc.address, a.ChainID.Uint64())
	switch {
	case known && a.Nonce < next && !j.believes():
		j.add(Warn, "D4", "By what the service said before, this nonce of your EOA is used. If that was true, this "+
			"delegation can never be used; if not, it takes the place of the earlier one.",
			path, "from "+strconv.FormatUint(next, 10), got)
	case known && a.Nonce < next:
		return j.must(false, "D4", "the delegation's nonce is not used yet", path, "from "+strconv.FormatUint(next, 10),
			got)
	case known && a.Nonce-next <= 1: // a transaction that this wallet never heard of may have used the next one
		j.pass("D4", "the delegation is valid for the account's next transaction only")
	case known:
		return j.gate(GateDelegationNonce, "D4",
			"The delegation carries another nonce than the account's next one, so it could be used at a later time.",
			path,
			strconv.FormatUint(next, 10), got)
	case a.Nonce == 0:
		j.pass("D4", "the delegation is valid for the account's next transaction only")
	default:
		j.add(Unknown, "D4", "This wallet has not seen a transaction of this EOA, so it cannot tell whether the "+
			"delegation's nonce is the next one.", path, "", "nonce "+got)
		return j.must(a.Nonce < maxAuthorizationNonce, "D4", "the delegation's nonce is plausible", path,
			"a small number", got)
	}
	return true
}

// oneDelegation: where the prepared operation asks for a delegation and a payment on the same chain does, too, it is
// the same one (TH-D6; protocol §2.12). Among themselves payments cannot differ, because each chain pays with one
// operation.
func (j *judge) oneDelegation(p *PreparedOp, legs []leg) {
	first := p.signing.delegation.authorization
	for _, l := range legs {
		d := l.delegation
		if d == nil || first.ChainID == nil || d.ChainID.Cmp(first.ChainID) != 0 {
			continue
		}
		j.must(d.Address == first.Address && d.Nonce == first.Nonce, "D6", "one delegation is enough for each chain",
			l.role.path+"/delegation",
			first.Address.Hex()+" nonce "+strconv.FormatUint(first.Nonce, 10),
			d.Address.Hex()+" nonce "+strconv.FormatUint(d.Nonce, 10))
	}
}

// delegationView shows the delegation of an operation; nil when it asks for none.
func (p Policy) delegationView(s Signing) *DelegationView {
	d, ok := s.Delegation()
	if !ok {
		return nil
	}
	a := d.authorization
	return &DelegationView{Chain: p.chainLabel(a.ChainID.Uint64()), Authority: d.signer.Hex(),
		Contract: a.Address.Hex(), ContractName: p.delegateName(a.Address), Nonce: a.Nonce}
}

// delegateName names the code that an EOA is delegated to; "" when nothing here knows it.
func (p Policy) delegateName(at common.Address) string {
	switch {
	case at == p.Network.Pins.KernelV33:
		return "Kernel v3.3 account"
	case slices.Contains(p.Limits.Delegates, at):
		return "an account contract of your policy"
	}
	return ""
}
