package solmsg_test

import "errors"

// oracle is a second reader of the message format, written from the format's
// description without solana-go. The gate has to accept exactly what it accepts.
type oracle struct {
	rest []byte
	bad  bool
}

var errOracle = errors.New("refused by the oracle")

func (o *oracle) take(n int) []byte {
	if o.bad || n > len(o.rest) {
		o.bad = true
		return make([]byte, n)
	}
	out := o.rest[:n]
	o.rest = o.rest[n:]
	return out
}

func (o *oracle) byte() int { return int(o.take(1)[0]) }

// short reads a compact-u16, minimal forms only.
func (o *oracle) short() int {
	v := 0
	for i := 0; i < 3; i++ {
		b := o.byte()
		v |= b & 0x7f << (7 * i)
		if b < 0x80 {
			if b == 0 && i > 0 || v > 0xffff {
				o.bad = true
			}
			break
		}
		if i == 2 {
			o.bad = true
		}
	}
	if o.bad || v > len(o.rest) {
		o.bad = true
		return 0
	}
	return v
}

func (o *oracle) list() []byte { return o.take(o.short()) }

// check returns the number of accounts of an acceptable message.
func (o *oracle) check() (int, error) {
	size := len(o.rest)
	if size == 0 || size > 1232 {
		return 0, errOracle
	}
	v0 := o.rest[0] >= 0x80
	if v0 && o.byte() != 0x80 {
		return 0, errOracle
	}
	signers, readonlySigned, readonlyUnsigned := o.byte(), o.byte(), o.byte()
	keys := map[string]bool{}
	n := o.short()
	for range n {
		keys[string(o.take(32))] = true
	}
	if o.bad || len(keys) != n || signers == 0 || readonlySigned >= signers || signers+readonlyUnsigned > n {
		return 0, errOracle
	}
	o.take(32)
	var programs, accounts []byte
	for range o.short() {
		programs = append(programs, o.take(1)...)
		accounts = append(accounts, o.list()...)
		o.list()
	}
	total := n
	if v0 {
		for range o.short() {
			o.take(32)
			entries := len(o.list()) + len(o.list())
			if entries == 0 {
				return 0, errOracle
			}
			total += entries
		}
	}
	if o.bad || len(o.rest) != 0 || total > 256 {
		return 0, errOracle
	}
	for _, p := range programs {
		if p == 0 || int(p) >= n {
			return 0, errOracle
		}
	}
	for _, a := range accounts {
		if int(a) >= total {
			return 0, errOracle
		}
	}
	return total, nil
}
