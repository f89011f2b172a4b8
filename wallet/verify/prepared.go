package verify

import (
	"crypto/sha256"
	"encoding/hex"
	"math/big"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/ethereum/go-ethereum/common"

	"coffer/api"
	"coffer/api/amount"
	"coffer/api/caip"
	"coffer/api/op"
	"coffer/api/text"
	"coffer/wallet/intent"
)

// Prepared judges an answer of prepare-call-quote, v1 or v3 as the intent says, against the intent that was sent. now
// is the local clock. The operation is nil when the report refuses.
func Prepared(in intent.Intent, p Policy, h History, now time.Time, doc *api.Document) (*PreparedOp, Report) {
	j := &judge{Policy: p, in: in, h: h, now: now}
	op := j.prepared(doc)
	if j.refused() {
		op = nil
	}
	return op, j.report
}

func (j *judge) prepared(doc *api.Document) *PreparedOp {
	if !j.must(doc != nil && j.h != nil, "L2", "there is an answer", "", "a document", "nothing") || !j.network() {
		return nil
	}
	if !j.must(j.in.Kind() == intent.KindCall, "U7", "the intent is a call", "", intent.KindCall, j.in.Kind()) {
		return nil
	}
	acc, ok := j.evmAccount()
	if !ok {
		return nil
	}
	j.lexical(doc, preparedTable(j.in.V1()), "/chainOperation/")
	w, err := readPrepared(doc, j.in.V1())
	if err != nil || j.refused() {
		j.must(err == nil, "L3", "the answer has the shape of a prepared call", "", "a prepare answer", "another shape")
		return nil
	}
	d := j.in.Draft()
	chainID := j.in.ChainID()
	j.accounts("P1", w.Accounts)
	j.tamperProof(w.TamperProofSignature)
	j.callType(w.CallType)
	sources := j.sources(w.SourceAssetBalances)
	j.callTypeFits(d, w.CallType, sources)
	j.operationAsset(d, chainID, w.ChainOperation)
	r := role{
		name: RolePrepared, path: "/chainOperation", chainID: chainID, lane: op.LanePrepared, mayDeploy: true,
		after: seconds(d.ValidAfter), start: seconds(d.ValidAfter), until: seconds(d.ValidUntil),
	}
	o, ok := j.operation(acc, w.ChainOperation, r)
	if !ok {
		if len(o.userOp.CallData) > 0 {
			// name what is wrong with the calls as well
			j.preparedCalls(d, chainID, acc.address, o.userOp.CallData, r.path)
		}
		return nil
	}
	lines := j.preparedCalls(d, chainID, acc.address, o.userOp.CallData, r.path)
	if j.refused() || lines == nil {
		return nil
	}
	v, ok := j.rebuild(acc, o, callsOf(lines))
	if !ok {
		return nil
	}
	v.summary.Spend = j.outflow(chainID, acc.address, lines)
	prep := &PreparedOp{
		signing: v, end: o.window.until(), doc: doc, callType: w.CallType, intent: j.in.Hash(), v1: j.in.V1(),
		funding: j.in.Funding(), slippage: d.SlippageBps, sources: sources,
	}
	prep.view = j.preparedView(d, w, acc, o, v, lines, sources)
	prep.called, prep.skipped = j.called(), skipped(d, lines)
	j.preparedLimits(lines, prep)
	prep.stood = j.beside([]Signing{v})
	prep.view.Fingerprint, prep.view.Phrase = fingerprint("coffer/review/1", j.in.Hash(), doc, v), j.report.Phrase()
	return prep
}

// readPrepared reads an answer of either version; that of v1 names one account.
func readPrepared(doc *api.Document, v1 bool) (api.PrepareResponse, error) {
	if !v1 {
		var w api.PrepareResponse
		return w, doc.Decode(&w)
	}
	var w api.PrepareResponseV1
	err := doc.Decode(&w)
	return api.PrepareResponse{
		Accounts: []api.Account{w.Account}, ChainOperation: w.ChainOperation,
		TamperProofSignature: w.TamperProofSignature, CallType: w.CallType,
		SourceAssetBalances: w.SourceAssetBalances,
	}, err
}

func callsOf(lines []line) []op.Call {
	calls := make([]op.Call, len(lines))
	for i, l := range lines {
		calls[i] = l.call
	}
	return calls
}

// seconds reads a checked time of an intent; "" is 0.
func seconds(s string) uint64 {
	n, err := strconv.ParseUint(s, 10, 63)
	if err != nil {
		return 0
	}
	return n
}

const (
	maxTamperProof = 1 << 10
	maxBalances    = 1000 // entries of sourceAssetBalances; a user has a few dozen
)

// tamperProof checks the form only: the value proves nothing to us and is carried unchanged (TH-P3).
func (j *judge) tamperProof(s string) {
	ok := strings.HasPrefix(s, "0x") && len(s) > 2 && len(s) <= 2+2*maxTamperProof
	if ok {
		_, err := hex.DecodeString(s[2:])
		ok = err == nil
	}
	j.must(ok, "P3", "the service's integrity mark has its plain form", "/tamperProofSignature", "0x and hex digits",
		strconv.Itoa(len(s))+" characters")
}

func (j *judge) callType(t string) {
	known := slices.Contains([]string{api.CallSameChainExcludeSolver, api.CallSameChainWithSolver, api.CallCrossChain,
		api.CallCrossChainSwaps}, t)
	j.must(known, "P4", "the way of paying is one of the known ones", "/callType", "a known call type", t)
}

// callTypeFits refuses a way of paying that contradicts what is asked, and points at one that contradicts the service's
// own balances: a call that announces payments is shown as one that waits for them (TH-P4; protocol §3.1).
func (j *judge) callTypeFits(d intent.Draft, announced string, sources []AmountView) {
	if announced == api.CallSameChainExcludeSolver {
		return
	}
	if !j.must(!j.Network.OnOwnNodes(), "P4", "nothing is paid on other chains, as this network has no solver",
		"/callType", api.CallSameChainExcludeSolver, announced) {
		return
	}
	needs, covered := false, true
	for _, t := range d.TokensRequired {
		asset, err := caip.ParseAsset(t.AssetType)
		v, errAmount := amount.ParseBase(t.Amount)
		if err != nil || errAmount != nil || v.Sign() == 0 {
			continue
		}
		needs = true
		covered = covered && slices.ContainsFunc(sources,
			func(s AmountView) bool { return s.Asset == asset && s.Amount.Cmp(v) >= 0 })
	}
	if !j.must(needs, "P4", "payments are announced only for what you require", "/callType",
		api.CallSameChainExcludeSolver, announced) {
		return
	}
	if covered {
		j.add(Warn, "P4", "Payments are announced although the service says that everything is there: this signature "+
			"alone may let the calls run.", "/callType", api.CallSameChainExcludeSolver, announced)
	}
}

// sources checks the usable balances that the service names; they are shown as its word (TH-P5, P6).
func (j *judge) sources(list []api.SourceAssetBalance) []AmountView {
	const root = "/sourceAssetBalances"
	if !j.must(len(list) <= maxBalances, "P6", "the list of balances has a plausible length", root,
		"at most "+strconv.Itoa(maxBalances), strconv.Itoa(len(list))) {
		return nil
	}
	var out []AmountView
	unknown := ""
	for i, s := range list {
		path := root + "/" + strconv.Itoa(i)
		asset, err := caip.ParseAsset(s.AssetType)
		if !j.must(err == nil, "P5", "each balance names an asset", path+"/assetType", "a CAIP-19 asset", s.AssetType) {
			continue
		}
		again := slices.ContainsFunc(out, func(v AmountView) bool { return v.Asset == asset })
		j.must(!again, "P5", "no asset has two balances", path+"/assetType", "each asset once", s.AssetType)
		v, err := amount.ParseBase(s.Balance)
		if !j.must(err == nil, "P6", "each balance is a plain amount", path+"/balance", "base units", s.Balance) {
			continue
		}
		e, known := j.Catalog.Entity(asset)
		if !known && unknown == "" {
			// one reason for all of them: the report has no room for every name that a service can think of
			unknown = s.AssetType
			j.add(Warn, "P5",
				"A balance is of an asset that is not in this wallet's list; its decimals cannot be trusted.", path, "",
				s.AssetType)
		} else if known {
			j.must(s.Decimals == e.Decimals, "P5", "the decimals match this wallet's list", path+"/decimals",
				strconv.Itoa(e.Decimals), strconv.Itoa(s.Decimals))
		}
		out = append(out, j.amountView(asset, v))
	}
	return out
}

// operationAsset compares what the operation says it moves with the first requirement (TH-P7; protocol §2.8).
func (j *judge) operationAsset(d intent.Draft, chainID uint64, w api.ChainOperation) {
	wantAsset, wantAmount := caip.Native(chainID), "0"
	if len(d.TokensRequired) > 0 {
		wantAsset, _ = caip.ParseAsset(d.TokensRequired[0].AssetType)
		wantAmount = d.TokensRequired[0].Amount
	}
	got, err := caip.ParseAsset(w.AssetType)
	j.must(err == nil && got == wantAsset, "P7", "the operation names the required token", "/chainOperation/assetType",
		wantAsset.String(), w.AssetType)
	j.must(w.Amount == wantAmount, "P7", "the operation names the required amount", "/chainOperation/amount",
		wantAmount, w.Amount)
}

// preparedView shows what was decoded, and adds the remarks that need the history (TH-V3, V4, H1).
func (j *judge) preparedView(d intent.Draft, w api.PrepareResponse, acc account, o operation, v Signing, lines []line,
	sources []AmountView) PreparedView {
	known := map[common.Address]bool{}
	for _, a := range j.h.Recipients() {
		if strings.HasPrefix(a, "0x") {
			known[common.HexToAddress(a)] = true
		}
	}
	view := PreparedView{
		Network: j.Network.ID, AccountType: acc.kind, Chain: j.chainLabel(o.role.chainID),
		Sender: o.userOp.Sender.Hex(), Signer: acc.signer.Hex(), Outflow: v.summary.Spend,
		Window:   o.window.view(),
		CallType: w.CallType, CallTypeWords: callTypeWords(w.CallType), Deploys: o.userOp.Factory != nil,
		Nonce:  o.userOp.Nonce.String(),
		OpHash: v.Hash(), Digest: v.Digest(), Sources: sources,
		WholeConsent: w.CallType == api.CallSameChainExcludeSolver, Signatures: v.Count(),
		Delegation: j.delegationView(v),
	}
	for _, t := range d.TokensRequired {
		asset, _ := caip.ParseAsset(t.AssetType)
		if n, err := amount.ParseBase(t.Amount); err == nil {
			view.Requires = append(view.Requires, j.amountView(asset, n))
		}
	}
	var first, unread []string
	for i, l := range lines {
		function := ""
		if l.asked >= 0 {
			function = d.Calls[l.asked].Function
		}
		c := j.callView(i+1, o.role.chainID, l, function, known)
		view.Lines = append(view.Lines, c)
		if j.remarks(c, o.userOp.Sender, known) && !slices.Contains(first, c.Recipient) {
			first = append(first, c.Recipient)
		}
		if !c.Decoded {
			unread = append(unread, "call "+strconv.Itoa(c.Index)+" to "+c.To)
		}
	}
	j.unread(unread)
	j.firstPayments(first)
	j.undeclared(d, view.Outflow)
	j.skippedAllowances(d, lines)
	return view
}

// remarks refuses a recipient that is new and imitates the account or an earlier recipient. It reports whether the
// warning about new recipients counts this one.
func (j *judge) remarks(c CallView, sender common.Address, known map[common.Address]bool) bool {
	if c.Recipient == "" || !c.FirstTime {
		return false
	}
	recipient := common.HexToAddress(c.Recipient)
	imitated := looksLike(sender, recipient)
	for a := range known {
		if looksLike(a, recipient) {
			sender, imitated = a, true
		}
	}
	if imitated {
		j.add(Refuse, "H1", "The recipient looks like an address that you know, but is another one.",
			"/chainOperation/userOp/callData", sender.Hex(), c.Recipient)
		return false
	}
	return true
}

// unread warns once about all calls that only their bytes describe.
func (j *judge) unread(calls []string) {
	switch n := len(calls); n {
	case 0:
	case 1:
		j.add(Warn, "V3", "A call could not be decoded; only its bytes can be shown.",
			"/chainOperation/userOp/callData", "", calls[0])
	default:
		j.add(Warn, "V3", strconv.Itoa(n)+" calls could not be decoded; only their bytes can be shown.",
			"/chainOperation/userOp/callData", "", text.Few(calls, 2))
	}
}

// FirstPayment is the warning V4 about a recipient that was never paid before, FirstPayments the one about several.
const (
	FirstPayment  = "No payment to this address is known to have arrived before."
	FirstPayments = "No payment to these addresses is known to have arrived before."
)

// firstPayments warns once about all recipients that are new: a warning for each of a long list would leave no room on
// the report for another one. The calls mark each.
func (j *judge) firstPayments(to []string) {
	title := FirstPayments
	switch len(to) {
	case 0:
		return
	case 1:
		title = FirstPayment
	}
	j.add(Warn, "V4", title, "/chainOperation/userOp/callData", "", text.Few(to, 3))
}

// looksLike reports whether two addresses differ but share their first and last four digits (TH-H1).
func looksLike(a, b common.Address) bool {
	return a != b && [2]byte(a[:2]) == [2]byte(b[:2]) && [2]byte(a[18:]) == [2]byte(b[18:])
}

// undeclared points at assets that can leave the account beyond what the intent requires; they must be there already
// (protocol §2.8).
func (j *judge) undeclared(d intent.Draft, outflow []AmountView) {
	for _, out := range outflow {
		declared := new(big.Int)
		for _, t := range d.TokensRequired {
			if a, err := caip.ParseAsset(t.AssetType); err == nil && a == out.Asset {
				declared, _ = amount.ParseBase(t.Amount)
			}
		}
		if declared == nil || out.Amount.Cmp(declared) > 0 {
			j.add(Show, "U10", "More of an asset can leave the account than the tokens you listed as required; the "+
				"rest must be there already.", "", "", j.human(out.Asset, out.Amount))
		}
	}
}

func (j *judge) skippedAllowances(d intent.Draft, lines []line) {
	var spenders []string
	for _, a := range skipped(d, lines) {
		spenders = append(spenders, a.spender.Hex())
	}
	switch n := len(spenders); n {
	case 0:
	case 1:
		j.add(Show, "U8", "A declared approval is left out: the service takes the present one as sufficient.", "",
			"", spenders[0])
	default:
		j.add(Show, "U8", strconv.Itoa(n)+" declared approvals are left out: the service takes the present ones as "+
			"sufficient.", "", "", text.Few(spenders, 3))
	}
}

// skipped are the declared allowances that an operation leaves out, because they are there already.
func skipped(d intent.Draft, lines []line) (out []allowance) {
	all, _ := declaredAllowances(d)
	for _, a := range all {
		if !slices.ContainsFunc(lines, func(l line) bool {
			return l.allow != nil && l.allow.token == a.token && l.allow.spender == a.spender
		}) {
			out = append(out, a)
		}
	}
	return out
}

// fingerprintBytes is long enough that a service cannot build two answers with one fingerprint: it chooses both, so
// half of the bits count.
const fingerprintBytes = 16

// fingerprint is a short form of a hash over the intent, the received bytes and every operation that gets signed, in
// groups of four digits.
func fingerprint(tag string, intentHash [32]byte, doc *api.Document, ops ...Signing) string {
	h := sha256.New()
	h.Write([]byte(tag + "\n"))
	h.Write(intentHash[:])
	body := sha256.Sum256(doc.Raw())
	h.Write(body[:])
	for _, o := range ops {
		h.Write([]byte(o.Digest()))
		h.Write([]byte(o.Hash()))
		if d, ok := o.Delegation(); ok {
			hash := d.authorization.Hash()
			h.Write(hash[:])
		}
	}
	var groups []string
	for part := range slices.Chunk(h.Sum(nil)[:fingerprintBytes], 2) {
		groups = append(groups, hex.EncodeToString(part))
	}
	return strings.Join(groups, " ")
}
