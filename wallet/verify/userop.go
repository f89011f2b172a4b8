package verify

import (
	"bytes"
	"math/big"
	"slices"
	"strconv"

	"github.com/ethereum/go-ethereum/common"

	"coffer/api"
	"coffer/api/caip"
	"coffer/api/network"
	"coffer/api/op"
)

// network refuses an intent for another network, and answers that are judged without pins.
func (j *judge) network() bool {
	if !j.must(j.Catalog != nil && !j.in.IsZero(), "U7", "there is an intent to compare with", "", "an intent",
		"nothing") {
		return false
	}
	d := j.in.Draft()
	j.must(d.SlippageBps <= j.MaxSlippageBps, "Q11", "your slippage tolerance is within this wallet's limit", "",
		percent(j.MaxSlippageBps), percent(d.SlippageBps))
	// The addresses are those of this program or of the user's policy. A Policy that DefaultPolicy did not
	// make has nothing to compare with.
	if !j.must(comparePins(j.shipped, j.Network.Pins, j.Limits) == nil, "U14",
		"the network's fixed addresses match this program or your policy", "",
		"the pinned addresses", "others") {
		return false
	}
	return j.must(d.Network == j.Network.ID, "U14", "the intent was made for this network", "", j.Network.ID, d.Network)
}

// role says what an operation is for and what it may therefore contain.
type role struct {
	name      string
	path      string // JSON pointer of the operation
	chainID   uint64
	lane      uint16
	mayDeploy bool
	after     uint64 // not before, Unix seconds that the intent asks for; 0 = none
	start     uint64 // the operation may wait until then; at least after
	until     uint64 // not later; 0 = none
}

// operation is a user operation whose fields were checked, except its call data.
type operation struct {
	role   role
	userOp op.UserOp
	nonce  op.Nonce
	window window

	sponsor    common.Address    // the paymaster that was checked
	endless    bool              // an approval of a role-based account: what is signed carries no time
	delegation *op.Authorization // nil when none is asked for
	hash       common.Hash       // of the typed data
}

// operation checks everything of an EVM operation but its calls and amounts (rows L, U1–U4, U11–U13, T, D1).
func (j *judge) operation(acc account, w api.ChainOperation, r role) (operation,
	bool) {
	before := j.report.Count(Refuse)
	path := r.path + "/userOp"
	if !j.must(w.UserOp != nil && w.TypedDataToSign != nil, "P2",
		"the operation is an EVM user operation with its typed data", r.path, "userOp and typedDataToSign", "") {
		return operation{}, false
	}
	u, err := op.FromWire(*w.UserOp)
	if err != nil {
		j.codec(err, "L3", "the user operation can be read", r.path)
		return operation{}, false
	}
	// on another chain nobody placed the pinned contracts
	chain := caip.EVM(r.chainID).String()
	j.must(slices.Contains(j.Network.Chains, chain), "B3", "the chain is one of the network's", r.path,
		"a chain of the network", chain)
	o := operation{role: r, userOp: u, endless: acc.kind == api.AccountRoleBased}
	same(j, acc.address, u.Sender, "U1", "the operation belongs to your account", path+"/sender")
	j.pass("U13", "the operation arrives unsigned") // the lexical layer lets no other spelling pass
	j.nonce(acc, &o)
	j.factory(acc, &o)
	j.gas(acc, u, path)
	j.paymaster(&o)
	j.typedData(acc, w, &o)
	j.delegation(acc, w, &o)
	return o, j.report.Count(Refuse) == before
}

// nonce checks mode, type, validator, lane and sequence (TH-U2, U3; protocol §2.5).
func (j *judge) nonce(acc account, o *operation) {
	path := o.role.path + "/userOp/nonce"
	n, err := op.ParseNonce(o.userOp.Nonce)
	if err != nil {
		j.codec(err, "L3", "the nonce can be read", o.role.path)
		return
	}
	o.nonce = n
	want := op.Nonce{Validator: acc.validator, Key: o.role.lane, Sequence: n.Sequence}
	if !j.must(n == want, "U2", "the nonce names your validator, no other mode, and the lane of its role", path,
		describeNonce(want), describeNonce(n)) {
		return
	}
	live := j.h.LiveNonces(acc.address, o.role.chainID, o.role.lane, j.now)
	if len(live) > 0 {
		same := slices.ContainsFunc(live, func(v *big.Int) bool { return v.Cmp(o.userOp.Nonce) == 0 })
		j.must(same, "U3", "an earlier signature that is still open cannot run beside this one", path,
			"the nonce of the open signature, sequence "+describeSequence(live),
			"sequence "+strconv.FormatUint(n.Sequence, 10))
	}
	seq := strconv.FormatUint(n.Sequence, 10)
	if o.userOp.Factory != nil {
		j.must(n.Sequence == 0, "U3", "a new account starts at sequence 0", path, "0", seq)
		return
	}
	next, known := j.h.NextSequence(acc.address, o.role.chainID, o.role.lane)
	switch {
	case known:
		j.sequence(acc, o, next, j.h.Open(j.now))
	case n.Sequence == 0:
		j.pass("U3", "the nonce follows the last one known")
	default:
		j.add(Unknown, "U3", "This wallet has not seen an earlier nonce of this account here, so it cannot tell "+
			"whether this is the next one.", path, "", "sequence "+seq)
		j.must(n.Sequence < 1<<32, "U3", "the sequence is plausible", path, "a small number", seq)
	}
}

// sequence compares a sequence with the next one known. Where the service's word proves nothing, a lower one is
// explained and let through: it takes the place of a signature that did not run, or it can never run; and a gap is, as
// far as the policy allows one. Where the wallet itself signed for what is between, that has run if this can. Where
// service and wallet are one program both know.
func (j *judge) sequence(acc account, o *operation, next uint64, open []Open) {
	const title = "the nonce follows the last one known"
	path, n := o.role.path+"/userOp/nonce", o.nonce.Sequence
	want, seq := "a sequence from "+strconv.FormatUint(next, 10), "sequence "+strconv.FormatUint(n, 10)
	repair := "; to set it: coffer activity repair --chain " + caip.EVM(o.role.chainID).String() + " --account " +
		acc.address.Hex() +
		" --lane " + strconv.Itoa(int(o.role.lane)) + " --sequence N"
	switch {
	case n >= next && n-next > j.MaxSequenceGap:
		j.must(false, "U3", title, path, want+", at most "+strconv.FormatUint(j.MaxSequenceGap, 10)+" ahead"+repair,
			seq)
	case j.believes():
		j.must(n >= next, "U3", title, path, want+repair, seq)
	case n < next:
		j.add(Warn, "U3", "By what the service said before, this place is used: if that was true, this can never "+
			"run; if not, it runs in place of the earlier one.", path, want, seq)
	case n > next && o.follows(acc, next, open):
		j.add(Warn, "U3", "You signed for the place before this one yourself. If this can run, that has run, "+
			"whatever the service said of it, or another device signed in its place.",
			path, want, seq)
	case n > next:
		j.add(Warn, "U3", "There is a gap: another device or an older copy of this journal signed in between, or the "+
			"service made it up. This cannot run before what is between.",
			path, want, seq)
	default:
		j.pass("U3", title)
	}
}

// follows reports whether open signatures hold every place of the lane from next up to the operation's own.
func (o *operation) follows(acc account, next uint64, open []Open) bool {
	for n := o.nonce; n.Sequence > next; {
		n.Sequence--
		place := n.Big().String()
		if !slices.ContainsFunc(open, func(x Open) bool {
			return x.Sent && x.Nonce == place && x.Chain == caip.EVM(o.role.chainID).String() &&
				common.HexToAddress(x.Sender) == acc.address
		}) {
			return false
		}
	}
	return true
}

func describeNonce(n op.Nonce) string {
	return "mode " + strconv.Itoa(int(n.Mode)) + ", type " + strconv.Itoa(int(n.Type)) + ", validator " +
		n.Validator.Hex() + ", lane " + strconv.Itoa(int(n.Key))
}

func describeSequence(live []*big.Int) string {
	n, err := op.ParseNonce(live[0])
	if err != nil {
		return "unknown"
	}
	return strconv.FormatUint(n.Sequence, 10)
}

// factory compares the deployment with the bytes built here (TH-U4; protocol §2.6).
func (j *judge) factory(acc account, o *operation) {
	path := o.role.path + "/userOp/factory"
	if o.userOp.Factory == nil {
		j.pass("U4", "nothing is deployed but your own account")
		return
	}
	pins := j.Network.Pins
	if !j.must(o.role.mayDeploy && acc.initData != nil, "U4",
		"the account is deployed only by the operation that may do it", path, "no factory here",
		o.userOp.Factory.Hex()) {
		return
	}
	j.must(!acc.replaced, "U4", "the account is not deployed with a session key that was replaced", path,
		"no deployment", "a deployment with the first session key")
	same(j, pins.MetaFactory, *o.userOp.Factory, "U4", "nothing is deployed but your own account", path)
	want := op.FactoryData(pins.Factory, acc.initData, new(big.Int))
	j.must(bytes.Equal(o.userOp.FactoryData, want), "U4", "nothing is deployed but your own account", path+"Data",
		"the deployment of your account", "other bytes")
}

// typedData checks the Approve document: it must be that of this very operation. A kernel account never signs it
// (TH-T8; protocol §2.10), a role-based account signs nothing else (TH-T1 to T7).
func (j *judge) typedData(acc account, w api.ChainOperation, o *operation) {
	path := o.role.path + "/typedDataToSign"
	d, hash, err := op.CheckTypedData(*w.TypedDataToSign)
	if err != nil {
		j.codec(err, "T5", "the typed data is an Approve document", o.role.path)
		return
	}
	o.hash = hash
	j.must(d.Name == acc.name && d.Version == acc.version, "T1", "the typed data belongs to your validator",
		path+"/domain", acc.name+" "+acc.version, d.Name+" "+d.Version)
	j.must(d.ChainID == o.role.chainID, "T2", "the typed data is for the same chain", path+"/domain/chainId",
		strconv.FormatUint(o.role.chainID, 10), strconv.FormatUint(d.ChainID, 10))
	same(j, acc.validator, d.VerifyingContract, "T3", "the typed data is for the pinned validator",
		path+"/domain/verifyingContract")
	path += "/message/callDataAndNonceHash"
	if acc.kind == api.AccountRoleBased && !j.knowsFormula(acc) {
		j.gate(GateBlindSigning, "T7", "The hash that would be signed cannot be computed here: the service could "+
			"show you one operation and have you sign another. "+
			"This signature can move everything in the account.", path, "a known formula for "+acc.name+" "+acc.version,
			hash.Hex())
		return
	}
	want := op.CallDataAndNonceHash(acc.address, o.userOp.CallData, o.userOp.Nonce)
	same(j, want, hash, "T7", "the typed data is about this operation", path)
}

// knowsFormula reports whether the network's registry says how the validator computes the hash of an approval (protocol
// §2.11). The network id is part of the key: the registry belongs to one network.
func (p Policy) knowsFormula(acc account) bool {
	return slices.ContainsFunc(p.Network.Formulas, func(f network.Formula) bool {
		return f.Name == acc.name && f.Version == acc.version && f.VerifyingContract == acc.validator &&
			f.Formula == network.FormulaCallDataAndNonce
	})
}

// rebuild makes what gets signed from the checked values, and demands that it is what was received (TH-U14).
func (j *judge) rebuild(acc account, o operation, calls []op.Call) (Signing, bool) {
	path := o.role.path + "/userOp"
	callData, err := op.EncodeExecute(calls)
	if err != nil {
		j.codec(err, "U6", "the calls can be encoded", o.role.path)
		return Signing{}, false
	}
	pins := j.Network.Pins
	paymaster := o.sponsor
	nonce := op.Nonce{Validator: acc.validator, Key: o.role.lane, Sequence: o.nonce.Sequence}
	u := o.userOp
	mine := op.UserOp{
		Sender: acc.address, Nonce: nonce.Big(), CallData: callData, CallGasLimit: u.CallGasLimit,
		VerificationGasLimit: u.VerificationGasLimit,
		PreVerificationGas:   u.PreVerificationGas, MaxFeePerGas: u.MaxFeePerGas,
		MaxPriorityFeePerGas: u.MaxPriorityFeePerGas, Paymaster: &paymaster,
		PaymasterVerificationGasLimit: u.PaymasterVerificationGasLimit,
		PaymasterPostOpGasLimit:       u.PaymasterPostOpGasLimit, PaymasterData: bytes.Clone(u.PaymasterData),
	}
	if u.Factory != nil {
		meta := pins.MetaFactory
		mine.Factory, mine.FactoryData = &meta, op.FactoryData(pins.Factory, acc.initData, new(big.Int))
	}
	chain := new(big.Int).SetUint64(o.role.chainID)
	hash, err := mine.Hash(pins.EntryPoint, chain)
	received, errReceived := u.Hash(pins.EntryPoint, chain)
	if !j.must(err == nil && errReceived == nil && hash == received, "U14",
		"what gets signed is exactly what was checked", path, hash.Hex(), received.Hex()) {
		return Signing{}, false
	}
	by := verified{j.Network.ID, acc.kind, acc.signer}
	s := Signing{op: VerifiedUserOp{verified: by, userOp: mine, chainID: o.role.chainID, entryPoint: pins.EntryPoint,
		opHash: hash}}
	if acc.kind == api.AccountRoleBased {
		s.roleBased, s.approve = true, j.approval(by, acc, o, mine)
	}
	if o.delegation != nil {
		s.delegation = VerifiedDelegation{verified: by, authorization: *o.delegation}
	}
	s.summary = OpSummary{
		Role: o.role.name, Kind: acc.kind, Chain: caip.EVM(o.role.chainID).String(), Sender: acc.address.Hex(),
		Lane: o.role.lane, Nonce: mine.Nonce.String(),
		ValidUntil: o.window.until(),
	}
	if s.roleBased {
		s.summary.ValidUntil = NoEnd // an approval covers call data and nonce, not the sponsor's window (protocol §8.2)
	}
	return s, true
}

// approval is what a role-based account signs instead of its operation.
func (p Policy) approval(by verified, acc account, o operation, mine op.UserOp) VerifiedApprove {
	v := VerifiedApprove{verified: by, domain: op.Domain{Name: acc.name, Version: acc.version, ChainID: o.role.chainID,
		VerifyingContract: acc.validator}}
	if !p.knowsFormula(acc) {
		v.hash = o.hash // behind the gate of blind signing
		return v
	}
	v.approved = &Approved{Sender: mine.Sender, CallData: mine.CallData, Nonce: mine.Nonce}
	v.hash = op.CallDataAndNonceHash(mine.Sender, mine.CallData, mine.Nonce)
	return v
}
