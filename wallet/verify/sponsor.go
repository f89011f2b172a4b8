package verify

import (
	"bytes"
	"math/big"
	"strconv"
	"time"

	"coffer/api"
	"coffer/api/op"
)

// NoEnd is the ValidUntil of a signature that ends with its nonce only: an approval of a role-based account, which
// covers no window, or an operation whose sponsor's data this program cannot read. It lies beyond every clock.
const NoEnd int64 = maxTime

// window is when an operation can run, in Unix seconds, by its sponsor; known is false when that cannot be read.
type window struct {
	op.PaymasterWindow
	known bool
}

// until is the end of the window, NoEnd when it is not known.
func (w window) until() int64 {
	if !w.known {
		return NoEnd
	}
	return int64(min(w.ValidUntil, maxTime))
}

// view shows the window; an unknown one is the zero Window.
func (w window) view() Window {
	if !w.known {
		return Window{}
	}
	return Window{From: time.Unix(int64(min(w.ValidAfter, maxTime)), 0), Until: time.Unix(w.until(), 0)}
}

// gas compares the gas fields with the caps (TH-U11). An approval of a role-based account does not cover fees, and the
// paymaster of own nodes takes none, so that they must be zero, whatever the caps say.
func (j *judge) gas(acc account, u op.UserOp, path string) {
	c := j.Caps
	fee := c.MaxFeePerGas
	if acc.kind == api.AccountRoleBased || j.Network.OnOwnNodes() {
		fee = 0
	}
	for _, g := range []struct {
		name string
		v    *big.Int
		cap  uint64
	}{
		{"callGasLimit", u.CallGasLimit, c.CallGas}, {"verificationGasLimit", u.VerificationGasLimit,
			c.VerificationGas},
		{"preVerificationGas", u.PreVerificationGas, c.PreVerificationGas}, {"maxFeePerGas", u.MaxFeePerGas, fee},
		{"maxPriorityFeePerGas", u.MaxPriorityFeePerGas, fee},
		{"paymasterVerificationGasLimit", u.PaymasterVerificationGasLimit, c.PaymasterVerificationGas},
		{"paymasterPostOpGasLimit", u.PaymasterPostOpGasLimit, c.PaymasterPostOpGas},
	} {
		if g.v != nil && g.v.Cmp(new(big.Int).SetUint64(g.cap)) > 0 {
			j.add(Refuse, "U11", "A gas field is above this wallet's limit.", path+"/"+g.name,
				"at most "+strconv.FormatUint(g.cap, 10), g.v.String())
			return
		}
	}
	j.must(u.MaxPriorityFeePerGas.Cmp(u.MaxFeePerGas) <= 0, "U11", "gas and fees are within the limits",
		path+"/maxPriorityFeePerGas", "at most maxFeePerGas", u.MaxPriorityFeePerGas.String())
}

// paymaster demands a sponsor: the pinned one with a short window, or another one that the user's policy or an open
// gate lets pass (TH-U12; protocol §2.2, §2.4). The data of another one, of which the codec lets 4 kB pass, is carried
// without being understood.
func (j *judge) paymaster(o *operation) {
	path := o.role.path + "/userOp/paymaster"
	want := j.Network.Pins.Paymaster.Hex()
	if o.userOp.Paymaster == nil {
		j.add(Refuse, "U12", "The operation has no sponsor of its gas, and so no end.", path, want, "none")
		return
	}
	o.sponsor = *o.userOp.Paymaster
	own, pinned := j.sponsors(o.sponsor)
	switch {
	case own:
		j.pass("U12", "the sponsor of the gas is a pinned one")
		j.window(o)
		return
	case pinned:
		j.pass("U12", "the sponsor of the gas is a pinned one")
	default:
		j.gate(GatePaymaster, "U12", "The sponsor of the gas is not a pinned one.", path, want, o.sponsor.Hex())
	}
	asked := o.role.after != 0 || o.role.until != 0
	if j.must(!asked, "U12", "the time that you asked for can be checked", path+"Data", "a window",
		"the data of a foreign sponsor") {
		j.add(Unknown, "U12",
			"This program cannot read the sponsor's data, so it does not know when this can run, or until when.",
			path+"Data", "", "")
	}
}

// window reads the time for which our paymaster sponsors the operation and compares it with the limits and with what
// the intent asks for.
func (j *judge) window(o *operation) {
	path := o.role.path + "/userOp/paymasterData"
	w, signature, err := op.DecodePaymasterData(o.userOp.PaymasterData)
	if err != nil {
		j.codec(err, "U12", "the sponsor's window can be read", o.role.path)
		return
	}
	if j.Network.OnOwnNodes() && !j.must(len(bytes.Trim(signature, "\x00")) == 0, "U12",
		"the sponsor of own nodes needs no signature", path, "zeros behind the window", hex0x(signature)) {
		return
	}
	o.window = window{w, true}
	at, tolerance := uint64(max(j.now.Unix(), 0)), uint64(j.ClockTolerance/time.Second)
	latest := at + tolerance + uint64(j.MaxWindow/time.Second)
	earliest := max(at+tolerance, o.role.start)
	if o.role.until != 0 && o.role.until < latest {
		latest = o.role.until
	}
	shown := unixText(w.ValidAfter) + " to " + unixText(w.ValidUntil)
	ok := w.ValidUntil > at && w.ValidUntil <= latest && w.ValidAfter >= o.role.after && w.ValidAfter <= earliest &&
		w.ValidAfter < w.ValidUntil
	title := "the signature is valid only for a short time, and no longer than you asked"
	if o.endless {
		title = "the sponsor pays for a short time only"
	}
	if j.must(ok, "U12", title, path, "not later than "+unixText(latest), shown) {
		j.add(Show, "U12", "When this can run.", path, "", shown)
	}
	if o.endless && (o.role.after != 0 || o.role.until != 0) {
		j.add(Warn, "U12", "What this kind of account signs does not carry the time that you asked for: it stays "+
			"valid until its nonce is used.", path, "", shown)
	}
}
