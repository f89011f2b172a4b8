package solana

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math/bits"

	"coffer/api/op/solmsg"
)

// Instructions of the system program that the ledger offers.
const (
	systemCreate   = 0
	systemAssign   = 1
	systemTransfer = 2
	systemAllocate = 8
	systemLast     = 13
)

const (
	maxData  = 10 << 20    // bytes of an account
	maxGrown = 2 * maxData // bytes that the accounts of a transaction may grow by
)

// Reasons of the system program that have a code.
var (
	errInUse    = errors.New("the address is in use (custom program error: 0x0)")
	errNegative = errors.New("insufficient funds (custom program error: 0x1)")
	errSize     = errors.New("an account has at most 10 MiB of data (custom program error: 0x3)")
)

// errGrown is the runtime's, which holds for all programs.
var errGrown = errors.New("a transaction adds at most 20 MiB of data")

// system runs the system program.
func (c *call) system() error {
	if len(c.data) < 4 {
		return named("InvalidInstructionData", errData)
	}
	switch tag := binary.LittleEndian.Uint32(c.data); tag {
	case systemCreate:
		return c.with(48, 2, func(b []byte) error {
			return c.create(binary.LittleEndian.Uint64(b), binary.LittleEndian.Uint64(b[8:]), solmsg.Key(b[16:48]))
		})
	case systemAssign:
		return c.with(32, 1, func(b []byte) error { return c.assign(0, solmsg.Key(b[:32])) })
	case systemTransfer:
		return c.with(8, 2, func(b []byte) error { return c.pay(0, 1, binary.LittleEndian.Uint64(b)) })
	case systemAllocate:
		return c.with(8, 1, func(b []byte) error { return c.allocate(0, binary.LittleEndian.Uint64(b)) })
	default:
		if tag > systemLast {
			return named("InvalidInstructionData", errData)
		}
		return c.unoffered("system %d", tag)
	}
}

// with runs an instruction that has size bytes behind its tag, and may have more, and needs that many accounts.
func (c *call) with(size, accounts int, run func(b []byte) error) error {
	b := c.data[4:]
	if len(b) < size {
		return named("InvalidInstructionData", errData)
	}
	if err := c.need(accounts); err != nil {
		return named("MissingAccount", err)
	}
	return run(b)
}

// create takes accounts payer, new account: both sign, and the new one has no lamports yet. Whether it has enough for
// its rent is seen at the end of the transaction.
func (c *call) create(lamports, space uint64, owner solmsg.Key) error {
	if c.get(c.key(1)).Lamports > 0 {
		c.log("Create Account: account %s already in use", address(c.key(1)))
		return custom(0, fmt.Errorf("%w: %s", errInUse, c.key(1)))
	}
	if err := c.allocate(1, space); err != nil {
		return err
	}
	if err := c.assign(1, owner); err != nil {
		return err
	}
	return c.pay(0, 1, lamports)
}

// allocate gives data to an account of the system program that has none.
func (c *call) allocate(i int, space uint64) error {
	if err := c.signer(i); err != nil {
		c.log("Allocate: 'to' account %s must sign", address(c.key(i)))
		return err
	}
	if a := c.get(c.key(i)); a.Owner != solmsg.SystemProgram() || len(a.Data) > 0 {
		c.log("Allocate: account %s already in use", address(c.key(i)))
		return custom(0, fmt.Errorf("%w: %s", errInUse, c.key(i)))
	}
	if space > maxData {
		c.log("Allocate: requested %d, max allowed %d", space, maxData)
		return custom(3, errSize)
	}
	a, err := c.writable(i, readonlyData)
	if err != nil {
		return err
	}
	if c.grown += int(space); c.grown > maxGrown {
		return named("MaxAccountsDataAllocationsExceeded", errGrown)
	}
	a.Data = make([]byte, space)
	return nil
}

// assign gives an account of the system program to another program. That it keeps its owner needs no signature.
func (c *call) assign(i int, owner solmsg.Key) error {
	if c.get(c.key(i)).Owner == owner {
		return nil
	}
	const modified = "ModifiedProgramId"
	if err := c.signer(i); err != nil {
		c.log("Assign: account %s must sign", address(c.key(i)))
		return err
	}
	a, err := c.writable(i, modified)
	if err != nil {
		return err
	}
	if a.Owner != solmsg.SystemProgram() {
		return named(modified, fmt.Errorf("%w: %s", errOwner, c.key(i)))
	}
	a.Owner = owner
	return nil
}

// pay moves lamports with the signature of whom they leave.
func (c *call) pay(from, to int, lamports uint64) error {
	if err := c.signer(from); err != nil {
		c.log("Transfer: `from` account %s must sign", c.key(from))
		return err
	}
	return c.move(from, to, lamports)
}

// move takes lamports from a writable account of the system program, which may not carry data, and gives them to any
// writable account. The runtime asks who owns an account only when lamports leave it.
func (c *call) move(from, to int, lamports uint64) error {
	was := c.get(c.key(from))
	if len(was.Data) > 0 {
		c.log("Transfer: `from` must not carry data")
		return named("InvalidArgument", fmt.Errorf("%w, or carries data: %s", errOwner, c.key(from)))
	}
	if was.Lamports < lamports {
		c.log("Transfer: insufficient lamports %d, need %d", was.Lamports, lamports)
		return custom(1, fmt.Errorf("%w: %s has %d lamports, %d are needed", errNegative, c.key(from), was.Lamports,
			lamports))
	}
	if was.Owner != solmsg.SystemProgram() && lamports > 0 {
		return named("ExternalAccountLamportSpend", fmt.Errorf("%w: %s", errOwner, c.key(from)))
	}
	a, err := c.writable(from, readonlyLamports)
	if err != nil {
		return err
	}
	b, err := c.writable(to, readonlyLamports)
	if err != nil {
		return err
	}
	a.Lamports -= lamports
	return credit(&b.Lamports, lamports)
}

// credit adds to a balance and refuses what does not fit.
func credit(balance *uint64, n uint64) error {
	sum, carry := bits.Add64(*balance, n, 0)
	if carry != 0 {
		return named("ArithmeticOverflow", errOverflow)
	}
	*balance = sum
	return nil
}

// address is how the system program writes an address into its log.
func address(k solmsg.Key) string { return fmt.Sprintf("Address { address: %s, base: None }", k) }
