package verify

import (
	"bytes"
	"math/big"
	"slices"
	"strconv"
	"time"

	"github.com/ethereum/go-ethereum/common"

	"coffer/api"
	"coffer/api/caip"
	"coffer/api/op"
	"coffer/wallet/intent"
)

// account is the kernel-v3.1 account of an intent with everything that follows from its key and the pins.
type account struct {
	address, signer common.Address
	initData        []byte
}

// kernelAccount takes the account from the intent and checks that it is the one its key and the pins lead to (TH-U1).
func (j *judge) kernelAccount(p Policy, in intent.Intent) (account, bool) {
	a, ok := in.EVMAccount()
	if !j.must(ok && a.Type == api.AccountKernelV31, "U1", "the account is a kernel-v3.1-ecdsa account", "", api.AccountKernelV31, a.Type) {
		return account{}, false
	}
	pins := p.Network.Pins
	acc := account{address: common.HexToAddress(a.AccountAddress), signer: common.HexToAddress(a.SignerAddress)}
	acc.initData = op.InitDataECDSA(pins.ECDSAValidator, acc.signer)
	predicted := op.PredictAddress(pins.Factory, pins.KernelV31, acc.initData, new(big.Int))
	return acc, j.must(predicted == acc.address, "U1", "the account's address follows from your key", "/accounts", predicted.Hex(), acc.address.Hex())
}

// network refuses an intent for another network, and answers that are judged without pins.
func (j *judge) network(p Policy, in intent.Intent) bool {
	if !j.must(p.Catalog != nil && !in.IsZero(), "U7", "there is an intent to compare with", "", "an intent", "nothing") {
		return false
	}
	d := in.Draft()
	j.must(d.SlippageBps <= p.MaxSlippageBps, "Q11", "your slippage tolerance is within this wallet's limit", "", percent(p.MaxSlippageBps), percent(d.SlippageBps))
	if !j.must(p.pinned, "U14", "the network's fixed addresses are those this program was built with", "", "the pinned addresses", "others") {
		return false
	}
	return j.must(d.Network == p.Network.ID && p.Network.Pins.EntryPoint != (common.Address{}), "U14", "the intent was made for this network", "", p.Network.ID, d.Network)
}

// accounts compares the accounts of an answer with those that were sent, as sets (TH-P1, Q2).
func (j *judge) accounts(code string, want, got []api.Account) {
	title := "the answer is for your accounts and no others"
	if !j.must(len(want) == len(got), code, title, "/accounts", plural(len(want), "account"), plural(len(got), "account")) {
		return
	}
	for i, g := range got {
		path := "/accounts/" + strconv.Itoa(i)
		for _, s := range []string{g.AccountAddress, g.SignerAddress, g.SessionAddress, g.AdminAddress} {
			if g.IsEVM() && s != "" && caip.CheckEIP55(s) != nil {
				j.add(Refuse, "L5", "An address is malformed or has a wrong checksum.", path, "lower case or a correct checksum", s)
				return
			}
		}
		n := slices.IndexFunc(want, func(w api.Account) bool { return sameAccount(w, g) })
		if !j.must(n >= 0, code, title, path, "one of yours", g.Type+" "+g.AccountAddress) {
			return
		}
		want = slices.Delete(slices.Clone(want), n, n+1)
	}
}

func sameAccount(w, g api.Account) bool {
	if w.Type != g.Type {
		return false
	}
	if w.Type == api.AccountSolana {
		return w == g
	}
	deployment := g.DeploymentType == w.DeploymentType || (w.Type == api.AccountKernelV31 &&
		(g.DeploymentType == "" || g.DeploymentType == api.DeploymentERC4337) && (w.DeploymentType == "" || w.DeploymentType == api.DeploymentERC4337))
	same := func(a, b string) bool {
		return (a == "") == (b == "") && common.HexToAddress(a) == common.HexToAddress(b)
	}
	return deployment && same(w.AccountAddress, g.AccountAddress) && same(w.SignerAddress, g.SignerAddress) &&
		same(w.SessionAddress, g.SessionAddress) && same(w.AdminAddress, g.AdminAddress)
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
	window op.PaymasterWindow
}

// operation checks everything of an EVM operation but its calls and amounts (rows L, U1–U4, U11–U13, T, D1).
func (j *judge) operation(p Policy, acc account, h History, now time.Time, w api.ChainOperation, r role) (operation, bool) {
	before := j.report.Count(Refuse)
	path := r.path + "/userOp"
	if !j.must(w.UserOp != nil && w.TypedDataToSign != nil && !w.IsSolana(), "P2", "the operation is an EVM user operation with its typed data", r.path, "userOp and typedDataToSign", "") {
		return operation{}, false
	}
	u, err := op.FromWire(*w.UserOp)
	if err != nil {
		j.codec(err, "L3", "the user operation can be read", r.path)
		return operation{}, false
	}
	o := operation{role: r, userOp: u}
	j.pass("D1", "no delegation is asked for") // the class table knows no such member
	j.must(u.Sender == acc.address, "U1", "the operation belongs to your account", path+"/sender", acc.address.Hex(), u.Sender.Hex())
	j.must(len(u.Signature) == 0, "U13", "the operation arrives unsigned", path+"/signature", "0x", "a signature")
	j.nonce(p, acc, h, now, &o)
	j.factory(p, acc, &o)
	j.gas(p, u, path)
	j.paymaster(p, now, &o)
	j.typedData(p, acc, w, &o)
	return o, j.report.Count(Refuse) == before
}

// nonce checks mode, type, validator, lane and sequence (TH-U2, U3; protocol §2.5).
func (j *judge) nonce(p Policy, acc account, h History, now time.Time, o *operation) {
	path := o.role.path + "/userOp/nonce"
	n, err := op.ParseNonce(o.userOp.Nonce)
	if err != nil {
		j.codec(err, "L3", "the nonce can be read", o.role.path)
		return
	}
	o.nonce = n
	want := op.Nonce{Validator: p.Network.Pins.ECDSAValidator, Key: o.role.lane, Sequence: n.Sequence}
	if !j.must(n == want, "U2", "the nonce names your validator, no other mode, and the lane of its role", path, describeNonce(want), describeNonce(n)) {
		return
	}
	live := h.LiveNonces(acc.address, o.role.chainID, o.role.lane, now)
	if len(live) > 0 {
		same := slices.ContainsFunc(live, func(v *big.Int) bool { return v.Cmp(o.userOp.Nonce) == 0 })
		j.must(same, "U3", "an earlier signature that is still open cannot run beside this one", path,
			"the nonce of the open signature, sequence "+describeSequence(live), "sequence "+strconv.FormatUint(n.Sequence, 10))
	}
	seq := strconv.FormatUint(n.Sequence, 10)
	if o.userOp.Factory != nil {
		j.must(n.Sequence == 0, "U3", "a new account starts at sequence 0", path, "0", seq)
		return
	}
	next, known := h.NextSequence(acc.address, o.role.chainID, o.role.lane)
	switch {
	case known:
		j.must(n.Sequence >= next && n.Sequence-next <= p.MaxSequenceGap, "U3", "the nonce follows the last one known", path,
			"a sequence from "+strconv.FormatUint(next, 10), seq)
	case n.Sequence == 0:
		j.pass("U3", "the nonce follows the last one known")
	default:
		j.add(Unknown, "U3", "This wallet has not seen an earlier nonce of this account here, so it cannot tell whether this is the next one.", path, "", "sequence "+seq)
		j.must(n.Sequence < 1<<32, "U3", "the sequence is plausible", path, "a small number", seq)
	}
}

func describeNonce(n op.Nonce) string {
	return "mode " + strconv.Itoa(int(n.Mode)) + ", type " + strconv.Itoa(int(n.Type)) + ", validator " + n.Validator.Hex() + ", lane " + strconv.Itoa(int(n.Key))
}

func describeSequence(live []*big.Int) string {
	n, err := op.ParseNonce(live[0])
	if err != nil {
		return "unknown"
	}
	return strconv.FormatUint(n.Sequence, 10)
}

// factory compares the deployment with the bytes built here (TH-U4; protocol §2.6).
func (j *judge) factory(p Policy, acc account, o *operation) {
	path := o.role.path + "/userOp/factory"
	if o.userOp.Factory == nil {
		j.pass("U4", "nothing is deployed but your own account")
		return
	}
	pins := p.Network.Pins
	if !j.must(o.role.mayDeploy, "U4", "the account is deployed only by the operation that may do it", path, "no factory here", o.userOp.Factory.Hex()) {
		return
	}
	j.must(*o.userOp.Factory == pins.MetaFactory, "U4", "nothing is deployed but your own account", path, pins.MetaFactory.Hex(), o.userOp.Factory.Hex())
	want := op.FactoryData(pins.Factory, acc.initData, new(big.Int))
	j.must(bytes.Equal(o.userOp.FactoryData, want), "U4", "nothing is deployed but your own account", path+"Data", "the deployment of your account", "other bytes")
}

// gas compares the gas fields with the caps (TH-U11).
func (j *judge) gas(p Policy, u op.UserOp, path string) {
	c := p.Caps
	for _, g := range []struct {
		name string
		v    *big.Int
		cap  uint64
	}{
		{"callGasLimit", u.CallGasLimit, c.CallGas}, {"verificationGasLimit", u.VerificationGasLimit, c.VerificationGas},
		{"preVerificationGas", u.PreVerificationGas, c.PreVerificationGas}, {"maxFeePerGas", u.MaxFeePerGas, c.MaxFeePerGas},
		{"maxPriorityFeePerGas", u.MaxPriorityFeePerGas, c.MaxFeePerGas},
		{"paymasterVerificationGasLimit", u.PaymasterVerificationGasLimit, c.PaymasterVerificationGas},
		{"paymasterPostOpGasLimit", u.PaymasterPostOpGasLimit, c.PaymasterPostOpGas},
	} {
		if g.v != nil && g.v.Cmp(new(big.Int).SetUint64(g.cap)) > 0 {
			j.add(Refuse, "U11", "A gas field is above this wallet's limit.", path+"/"+g.name, "at most "+strconv.FormatUint(g.cap, 10), g.v.String())
			return
		}
	}
	j.must(u.MaxPriorityFeePerGas.Cmp(u.MaxFeePerGas) <= 0, "U11", "gas and fees are within the limits", path+"/maxPriorityFeePerGas", "at most maxFeePerGas", u.MaxPriorityFeePerGas.String())
}

// paymaster demands the pinned sponsor and a short window (TH-U12; protocol §2.2, §2.4).
func (j *judge) paymaster(p Policy, now time.Time, o *operation) {
	path := o.role.path + "/userOp/paymaster"
	pinned := p.Network.Pins.Paymaster
	if o.userOp.Paymaster == nil || *o.userOp.Paymaster != pinned {
		got := "none"
		if o.userOp.Paymaster != nil {
			got = o.userOp.Paymaster.Hex()
		}
		j.add(Refuse, "U12", "The sponsor of the gas is not the pinned one.", path, pinned.Hex(), got)
		return
	}
	j.pass("U12", "the sponsor of the gas is the pinned one")
	w, _, err := op.DecodePaymasterData(o.userOp.PaymasterData)
	if err != nil {
		j.codec(err, "U12", "the sponsor's window can be read", o.role.path)
		return
	}
	o.window = w
	at, tolerance := uint64(max(now.Unix(), 0)), uint64(p.ClockTolerance/time.Second)
	latest := at + tolerance + uint64(p.MaxWindow/time.Second)
	earliest := at + tolerance
	if o.role.start > earliest {
		earliest = o.role.start
	}
	if o.role.until != 0 && o.role.until < latest {
		latest = o.role.until
	}
	shown := unixText(w.ValidAfter) + " to " + unixText(w.ValidUntil)
	ok := w.ValidUntil > at && w.ValidUntil <= latest && w.ValidAfter >= o.role.after && w.ValidAfter <= earliest && w.ValidAfter < w.ValidUntil
	if j.must(ok, "U12", "the signature is good only for a short time, and no longer than you asked", path+"Data", "not later than "+unixText(latest), shown) {
		j.add(Show, "U12", "When this can run.", path+"Data", "", shown)
	}
}

// typedData checks the document that a kernel account never signs (TH-T8): it must be the Approve document of this very operation (protocol §2.10).
func (j *judge) typedData(p Policy, acc account, w api.ChainOperation, o *operation) {
	const name, version = "ECDSAValidator", "0.3.1"
	path := o.role.path + "/typedDataToSign"
	d, hash, err := op.CheckTypedData(*w.TypedDataToSign)
	if err != nil {
		j.codec(err, "T5", "the typed data is an Approve document", o.role.path)
		return
	}
	j.must(d.Name == name && d.Version == version, "T1", "the typed data belongs to your validator", path+"/domain", name+" "+version, d.Name+" "+d.Version)
	j.must(d.ChainID == o.role.chainID, "T2", "the typed data is for the same chain", path+"/domain/chainId", strconv.FormatUint(o.role.chainID, 10), strconv.FormatUint(d.ChainID, 10))
	pinned := p.Network.Pins.ECDSAValidator
	j.must(d.VerifyingContract == pinned, "T3", "the typed data is for the pinned validator", path+"/domain/verifyingContract", pinned.Hex(), d.VerifyingContract.Hex())
	want := op.CallDataAndNonceHash(acc.address, o.userOp.CallData, o.userOp.Nonce)
	j.must(hash == want, "T7", "the typed data is about this operation", path+"/message/callDataAndNonceHash", want.Hex(), hash.Hex())
}

// rebuild makes the operation that gets signed from the checked values, and demands that it is the one that was received (TH-U14).
func (j *judge) rebuild(p Policy, acc account, o operation, calls []op.Call) (VerifiedUserOp, bool) {
	path := o.role.path + "/userOp"
	callData, err := op.EncodeExecute(calls)
	if err != nil {
		j.codec(err, "U6", "the calls can be encoded", o.role.path)
		return VerifiedUserOp{}, false
	}
	pins := p.Network.Pins
	paymaster := pins.Paymaster
	nonce := op.Nonce{Validator: pins.ECDSAValidator, Key: o.role.lane, Sequence: o.nonce.Sequence}
	u := o.userOp
	mine := op.UserOp{
		Sender: acc.address, Nonce: nonce.Big(), CallData: callData, CallGasLimit: u.CallGasLimit, VerificationGasLimit: u.VerificationGasLimit,
		PreVerificationGas: u.PreVerificationGas, MaxFeePerGas: u.MaxFeePerGas, MaxPriorityFeePerGas: u.MaxPriorityFeePerGas, Paymaster: &paymaster,
		PaymasterVerificationGasLimit: u.PaymasterVerificationGasLimit, PaymasterPostOpGasLimit: u.PaymasterPostOpGasLimit, PaymasterData: bytes.Clone(u.PaymasterData),
	}
	if u.Factory != nil {
		meta := pins.MetaFactory
		mine.Factory, mine.FactoryData = &meta, op.FactoryData(pins.Factory, acc.initData, new(big.Int))
	}
	chain := new(big.Int).SetUint64(o.role.chainID)
	hash, err := mine.Hash(pins.EntryPoint, chain)
	received, errReceived := u.Hash(pins.EntryPoint, chain)
	if !j.must(err == nil && errReceived == nil && hash == received, "U14", "what gets signed is exactly what was checked", path, hash.Hex(), received.Hex()) {
		return VerifiedUserOp{}, false
	}
	v := VerifiedUserOp{network: p.Network.ID, userOp: mine, chainID: o.role.chainID, signer: acc.signer, opHash: hash}
	v.summary = OpSummary{
		Role: o.role.name, Chain: caip.EVM(o.role.chainID).String(), Sender: acc.address.Hex(), Lane: o.role.lane, Nonce: mine.Nonce.String(),
		ValidUntil: int64(min(o.window.ValidUntil, maxTime)),
	}
	return v, true
}
