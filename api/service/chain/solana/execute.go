package solana

import (
	"bytes"
	"errors"
	"fmt"
	"math/big"
	"slices"

	"coffer/api/op/solmsg"
)

// Reasons for which a transaction fails after it was included.
var (
	errData     = errors.New("the instruction data is not valid")
	errAccounts = errors.New("accounts are missing")
	errSigner   = errors.New("a required signature is missing")
	errReadonly = errors.New("an account that would change is not writable")
	errFunds    = errors.New("insufficient funds")
	errOwner    = errors.New("an account belongs to another program or owner")
	errState    = errors.New("an account is not in the state that the instruction needs")
	errOverflow = errors.New("a sum does not fit into 64 bits")
	errMint     = errors.New("the mint is another one")
	errOffered  = errors.New("the ledger does not offer this instruction")
	errTrace    = errors.New("a transaction runs at most 64 instructions")
)

// maxTrace is how many instructions a transaction runs, with those that programs call.
const maxTrace = 64

// execution is one transaction at work.
type execution struct {
	batch   *batch
	message solmsg.Message
	changed map[solmsg.Key]*Account
	logs    []string
	inner   []Inner
	at      int   // the instruction that runs
	grown   int   // bytes that accounts grew by
	trace   int   // instructions that ran
	fault   error // the database cannot be read; the result is void
}

func (a Account) clone() Account {
	a.Data = slices.Clone(a.Data)
	return a
}

func (a Account) equal(b Account) bool {
	return a.Lamports == b.Lamports && a.Owner == b.Owner && bytes.Equal(a.Data, b.Data)
}

// get is an account as the transaction sees it now.
func (x *execution) get(k solmsg.Key) Account {
	if a := x.changed[k]; a != nil {
		return *a
	}
	a, err := x.batch.account(k)
	if err != nil {
		x.fault = err
	}
	return a
}

// edit is an account that the transaction may change from now on.
func (x *execution) edit(k solmsg.Key) *Account {
	if a := x.changed[k]; a != nil {
		return a
	}
	a := x.get(k)
	a = a.clone()
	x.changed[k] = &a
	return &a
}

// charge takes the fee. The payer must be a system account that can go on living, or
// ends with nothing.
func (x *execution) charge(fee uint64) (refusal, fault error) {
	k := x.message.FeePayer()
	a := x.get(k)
	if x.fault != nil {
		return nil, x.fault
	}
	if a.Owner != solmsg.SystemProgram() || len(a.Data) > 0 || reserved(k) {
		return payerFault("InvalidAccountForFee", "%s is not a system account", k), nil
	}
	if a.Lamports == 0 {
		return payerFault("AccountNotFound", "it is %d lamports and %s has 0", fee, k), nil
	}
	if a.Lamports < fee {
		return payerFault("InsufficientFundsForFee", "it is %d lamports and %s has %d", fee, k, a.Lamports), nil
	}
	if left := a.Lamports - fee; left > 0 && left < RentMinimum(0) {
		return payerFault(FaultRent, "%s would be left with %d lamports, less than its rent minimum", k, left), nil
	}
	x.edit(k).Lamports -= fee
	return nil, nil
}

// instructions runs all instructions and the checks at the end. It returns the index of
// the one that failed, -1 when none did, and the reason.
func (x *execution) instructions() (int, error) {
	for i, ix := range x.message.Instructions {
		if !offered(ix.Program) && !solmsg.Reserved(ix.Program) && !reserved(ix.Program) {
			// The runtime loads all programs before it runs one.
			return i, ofTransaction(Fault{Kind: "ProgramAccountNotFound"}, fmt.Errorf(
				"instruction %d: the ledger has no program %s", i, ix.Program))
		}
	}
	for i, ix := range x.message.Instructions {
		x.at = i
		if err := x.instruction(ix); err != nil {
			return i, failedAt(i, err)
		}
	}
	for i, k := range x.message.Keys {
		a := x.changed[k]
		if a == nil || reserved(k) || k == solmsg.Incinerator() {
			continue // a program has its rent, and the runtime asks none of the incinerator
		}
		if a.Lamports == 0 {
			*a = Account{Owner: solmsg.SystemProgram()} // it is gone, with its data
			continue
		}
		if least := RentMinimum(len(a.Data)); a.Lamports < least {
			return -1, ofTransaction(Fault{Kind: FaultRent, Index: i}, fmt.Errorf(
				"account %s would be left with %d lamports, its rent minimum is %d", k, a.Lamports, least))
		}
	}
	return -1, nil
}

// failedAt says which instruction failed.
func failedAt(i int, err error) error {
	f, _ := FaultOf(err)
	f.Index = i
	return ofTransaction(f, fmt.Errorf("instruction %d: %w", i, err))
}

// offered reports whether the ledger has a program.
func offered(k solmsg.Key) bool { return reserved(k) && k != solmsg.Token2022Program() }

func (x *execution) log(format string, args ...any) {
	x.logs = append(x.logs, fmt.Sprintf(format, args...))
}

// instruction runs one instruction.
func (x *execution) instruction(ix solmsg.Instruction) error {
	c := &call{execution: x, accounts: slices.Clone(ix.Accounts), data: ix.Data}
	for i, a := range c.accounts {
		c.accounts[i].Writable = a.Writable && !x.fixed(a.Key)
	}
	if err := x.ran(1); err != nil {
		return err
	}
	return x.invoke(ix.Program, 1, func() error { return c.program(ix.Program) })
}

// invoke logs what runs, at a depth, and what becomes of it.
func (x *execution) invoke(program solmsg.Key, depth int, run func() error) error {
	x.log("Program %s invoke [%d]", program, depth)
	if err := run(); err != nil {
		f, _ := FaultOf(err)
		x.log("Program %s failed: %s", program, f.instruction())
		return err
	}
	x.log("Program %s success", program)
	return nil
}

// program runs the program of an instruction.
func (c *call) program(k solmsg.Key) error {
	switch k {
	case solmsg.SystemProgram():
		return c.system()
	case solmsg.TokenProgram():
		return c.token()
	case solmsg.ATAProgram():
		return c.associated()
	case solmsg.MemoProgram():
		return c.memo()
	case solmsg.ComputeBudgetProgram():
		return nil // judged with the fee
	}
	return named("UnsupportedProgramId", fmt.Errorf("the ledger has no program %s", k))
}

// unoffered refuses an instruction that the program has and the ledger does not. The log says so, for the runtime has
// no name for it.
func (c *call) unoffered(format string, args ...any) error {
	err := fmt.Errorf("%w: %s", errOffered, fmt.Sprintf(format, args...))
	c.log("%s", err)
	return named("InvalidInstructionData", err)
}

// fixed reports whether an account cannot be written to in this transaction: it is the runtime's, or a program that the
// transaction runs.
func (x *execution) fixed(k solmsg.Key) bool {
	return solmsg.Reserved(k) ||
		slices.ContainsFunc(x.message.Instructions, func(ix solmsg.Instruction) bool { return ix.Program == k })
}

// ran counts instructions.
func (x *execution) ran(n int) error {
	if x.trace += n; x.trace > maxTrace {
		return named("MaxInstructionTraceLengthExceeded", errTrace)
	}
	return nil
}

// call is one instruction at work. An account can be changed through writable only.
type call struct {
	*execution
	accounts []solmsg.Account
	data     []byte
	copies   []copied // of accounts that must not change
}

// copied is an account apart from the transaction's.
type copied struct {
	key     solmsg.Key
	account Account
}

func (c *call) need(n int) error {
	if len(c.accounts) < n {
		return named("NotEnoughAccountKeys", fmt.Errorf("%w: %d of %d", errAccounts, len(c.accounts), n))
	}
	return nil
}

func (c *call) key(i int) solmsg.Key { return c.accounts[i].Key }

func (c *call) signer(i int) error {
	if !c.accounts[i].Signer {
		return named("MissingRequiredSignature", fmt.Errorf("%w: %s", errSigner, c.key(i)))
	}
	return nil
}

// writable is an account to be changed; name is what the runtime calls it when it is not writable.
func (c *call) writable(i int, name string) (*Account, error) {
	if !c.accounts[i].Writable {
		return nil, named(name, fmt.Errorf("%w: %s", errReadonly, c.key(i)))
	}
	return c.edit(c.key(i)), nil
}

// What the runtime calls a change of an account that is not writable.
const (
	readonlyLamports = "ReadonlyLamportChange"
	readonlyData     = "ReadonlyDataModified"
)

// settle compares every changed account with what it was: the changes for the receipt,
// and the proof that nothing was made or lost. A violation is a fault of this program.
func (x *execution) settle(fee uint64) ([]Change, error) {
	out := []Change{}
	lamports := new(big.Int).SetUint64(fee)
	tokens := map[solmsg.Key]*big.Int{}
	for _, k := range x.message.Keys {
		now := x.changed[k]
		if now == nil {
			continue
		}
		was, err := x.batch.account(k)
		if err != nil {
			return nil, err
		}
		if was.equal(*now) {
			delete(x.changed, k) // it was only ready to be changed
			continue
		}
		for _, c := range compare(k, was, *now) {
			delta := new(big.Int).Sub(c.After, c.Before)
			if c.mint == (solmsg.Key{}) {
				lamports.Add(lamports, delta)
			} else {
				sum := tokens[c.mint]
				if sum == nil {
					sum = new(big.Int)
					tokens[c.mint] = sum
				}
				sum.Add(sum, delta)
			}
			if delta.Sign() != 0 {
				out = append(out, c.Change)
			}
		}
	}
	if lamports.Sign() != 0 {
		return nil, fmt.Errorf("a transaction would change the sum of lamports by %s", lamports)
	}
	for mint, sum := range tokens {
		if sum.Sign() != 0 {
			return nil, fmt.Errorf("a transaction would change the sum of token %s by %s", mint, sum)
		}
	}
	return out, nil
}

// balances fills in what every account of the message held before and after, those that did not change among them.
func (x *execution) balances(r *Receipt) error {
	for i, k := range x.message.Keys {
		was, err := x.batch.account(k)
		if err != nil {
			return err
		}
		now := was
		if a := x.changed[k]; a != nil {
			now = *a
		}
		r.Pre, r.Post = append(r.Pre, was.Lamports), append(r.Post, now.Lamports)
		before, had := asToken(was)
		after, has := asToken(now)
		if !had && !has {
			continue
		}
		t := before
		if !had {
			t = after
		}
		b := TokenBalance{Account: i, Mint: t.mint().String(), Owner: t.owner().String()}
		a, err := x.batch.account(t.mint())
		if err != nil {
			return err
		}
		if m, ok := asMint(a); ok {
			b.Decimals = m.decimals()
		}
		if had {
			b.Pre = new(before.amount())
		}
		if has {
			b.Post = new(after.amount())
		}
		r.Tokens = append(r.Tokens, b)
	}
	return x.fault
}

// change is a Change with its mint as a key, zero for lamports.
type change struct {
	Change
	mint solmsg.Key
}

// compare lists the balances of an account before and after.
func compare(k solmsg.Key, was, now Account) []change {
	name := k.String()
	amount := func(v uint64) *big.Int { return new(big.Int).SetUint64(v) }
	before, had := asToken(was)
	after, has := asToken(now)
	lamports := change{Change: Change{Account: name, Owner: name, Before: amount(was.Lamports),
		After: amount(now.Lamports)}}
	var out []change
	if had {
		lamports.Owner = before.owner().String()
		c := change{Change{Account: name, Owner: lamports.Owner, Mint: before.mint().String(),
			Before: amount(before.amount()), After: amount(0)}, before.mint()}
		if has && after.mint() == c.mint {
			c.After, has = amount(after.amount()), false
		}
		out = append(out, c)
	}
	if has {
		lamports.Owner = after.owner().String()
		out = append(out, change{Change{Account: name, Owner: lamports.Owner, Mint: after.mint().String(),
			Before: amount(0), After: amount(after.amount())}, after.mint()})
	}
	return append([]change{lamports}, out...)
}
