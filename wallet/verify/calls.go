package verify

import (
	"bytes"
	"math/big"
	"slices"
	"strconv"

	"github.com/ethereum/go-ethereum/common"

	"coffer/api"
	"coffer/api/amount"
	"coffer/api/caip"
	"coffer/api/op"
	"coffer/api/op/erc20"
	"coffer/wallet/intent"
)

// allowance is one declared approval, resolved to addresses.
type allowance struct {
	asset          caip.Asset
	token, spender common.Address
	amount         *big.Int
}

// line is one call of an operation together with what it is for: the user's call number (from 0), or the allowance it
// belongs to.
type line struct {
	call  op.Call
	role  string
	asked int
	allow *allowance
}

// askedCalls returns the calls of an intent. An intent was checked when it was frozen, so a failure here means a
// programming error upstream and is refused.
func askedCalls(d intent.Draft) ([]op.Call, bool) {
	calls := make([]op.Call, len(d.Calls))
	for i, c := range d.Calls {
		to, err := caip.ParseAddress(c.To)
		value, ok := api.ParseWei(c.Value)
		if err != nil || !ok || len(c.Data)%2 != 0 {
			return nil, false
		}
		calls[i] = op.Call{To: to, Value: value, Data: common.FromHex(c.Data)}
	}
	return calls, true
}

func declaredAllowances(d intent.Draft) ([]allowance, bool) {
	wire := make([]api.Call, len(d.Calls))
	for i, c := range d.Calls {
		wire[i] = api.Call{To: c.To}
	}
	out := make([]allowance, len(d.Allowances))
	for i, a := range d.Allowances {
		asset, err := caip.ParseAsset(a.AssetType)
		token, isToken := asset.Token()
		v, errAmount := amount.ParseBase(a.Amount)
		s, found := api.SpenderOf(a, wire)
		spender, errSpender := caip.ParseAddress(s)
		if err != nil || !isToken || errAmount != nil || !found || errSpender != nil {
			return nil, false
		}
		out[i] = allowance{asset, token, spender, v}
	}
	return out, true
}

func sameCall(a, b op.Call) bool {
	return a.To == b.To && a.Value.Cmp(b.Value) == 0 && bytes.Equal(a.Data, b.Data)
}

// arrange matches the decoded calls with approve* + asked + revoke* in which every declared allowance appears as the
// exact pair or not at all (protocol §2.7). An allowance of 0 asks for a revocation: exactly one approve of 0, before
// or after the calls. It returns the lines, or false and the index of the first call that does not fit.
func arrange(calls, asked []op.Call, allowances []allowance) ([]line, int, bool) {
	var lines []line
	k := 0
	take := func(want op.Call, role string, askedIndex int, a *allowance) bool {
		if k >= len(calls) || !sameCall(calls[k], want) {
			return false
		}
		lines = append(lines, line{calls[k], role, askedIndex, a})
		k++
		return true
	}
	approve := func(a *allowance, v *big.Int) op.Call {
		return op.Call{To: a.token, Value: new(big.Int), Data: erc20.Approve(a.spender, v)}
	}
	opened := make([]bool, len(allowances))
	for i := range allowances {
		a := &allowances[i]
		role := RoleApprove
		if a.amount.Sign() == 0 {
			role = RoleRevoke
		}
		opened[i] = take(approve(a, a.amount), role, -1, a)
	}
	for i, c := range asked {
		if !take(c, RoleCall, i, nil) {
			return nil, k, false
		}
	}
	for i := range allowances {
		a := &allowances[i]
		// an opened pair must close; a revocation that did not come yet must come
		closes := opened[i] != (a.amount.Sign() == 0)
		if closes && !take(approve(a, new(big.Int)), RoleRevoke, -1, a) {
			return nil, k, false
		}
	}
	return lines, k, k == len(calls)
}

// preparedCalls checks rows U5 to U10 for the prepared operation and returns its lines.
func (j *judge) preparedCalls(d intent.Draft, chainID uint64, sender common.Address, callData []byte,
	path string) []line {
	calls, err := op.DecodeExecute(callData)
	if err != nil {
		j.codec(err, "U5", "the operation is a plain batch of calls", path+"/userOp")
		return nil
	}
	path += "/userOp/callData"
	j.pass("U5", "the operation is a plain batch of calls")
	asked, okCalls := askedCalls(d)
	allowances, okAllow := declaredAllowances(d)
	if !j.must(okCalls && okAllow, "U7", "the intent can be compared", "", "a frozen intent", "") {
		return nil
	}
	j.forbiddenTargets(sender, calls, path)
	lines, at, ok := arrange(calls, asked, allowances)
	if !ok {
		j.explainMismatch(chainID, calls, asked, at, path)
		return nil
	}
	again, err := op.EncodeExecute(calls)
	if !j.must(err == nil && bytes.Equal(again, callData), "U6", "the call data is the one encoding of these calls",
		path, "a batch in canonical encoding", "") {
		return nil
	}
	j.pass("U7", "the calls are exactly yours, in your order")
	j.pass("U8", "approvals are exactly the declared ones and end with the calls")
	j.pass("U10", "no native value beyond yours")
	for i := range allowances {
		j.must(!erc20.Unlimited(allowances[i].amount), "U8", "no approval is unlimited", path, "an exact amount",
			"2^256-1")
	}
	return lines
}

// forbiddenTargets refuses calls that would reconfigure the account (TH-U9).
func (j *judge) forbiddenTargets(sender common.Address, calls []op.Call, path string) {
	for i, c := range calls {
		if j.controls(sender, c.To) {
			j.add(Refuse, "U9", "A call goes to the account itself or to a contract that controls it.", path,
				"other targets", "call "+strconv.Itoa(i+1)+" to "+c.To.Hex())
			return
		}
	}
	j.pass("U9", "no call reconfigures the account")
}

// explainMismatch finds the row that best names why the calls are not the asked ones.
func (j *judge) explainMismatch(chainID uint64, calls, asked []op.Call, at int, path string) {
	if at >= len(calls) {
		j.add(Refuse, "U7", "The operation leaves out something that you asked for.", path,
			plural(len(asked), "call")+" of yours", plural(len(calls), "call")+" in all")
		return
	}
	got := calls[at]
	where := "call " + strconv.Itoa(at+1) + ": " + j.describe(chainID, got)
	if grantsRights(got.Data) {
		j.add(Refuse, "U8", "The operation contains an approval that you did not declare.", path,
			"declared approvals only", where)
		return
	}
	for _, a := range asked {
		if a.To == got.To && bytes.Equal(a.Data, got.Data) && a.Value.Cmp(got.Value) != 0 {
			j.add(Refuse, "U10", "A call sends another native value than yours.", path, a.Value.String()+" wei",
				got.Value.String()+" wei")
			return
		}
	}
	want := "nothing more"
	for _, a := range asked {
		if !slices.ContainsFunc(calls, func(c op.Call) bool { return sameCall(c, a) }) {
			want = j.describe(chainID, a)
			break
		}
	}
	j.add(Refuse, "U7", "The operation contains a call that is not yours, or not in your order.", path, want, where)
}

// grantsRights reports whether call data gives others rights (TH-U8), or may do so in a multicall that cannot be read.
func grantsRights(data []byte) bool {
	signature, readable := api.FindApproval(data)
	return signature != "" || !readable
}
