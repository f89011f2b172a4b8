package solana

import (
	"encoding/binary"
	"errors"
	"fmt"

	"coffer/api/op/solmsg"
)

// Instructions of SPL Token that the ledger offers.
const (
	tokenTransfer        = 3
	tokenApprove         = 4
	tokenRevoke          = 5
	tokenCloseAccount    = 9
	tokenTransferChecked = 12
	tokenApproveChecked  = 13
	tokenSyncNative      = 17
)

// tokenCall is a decoded instruction of SPL Token: the places of its accounts and its
// amount. Mint is -1 in the forms that do not name the mint.
type tokenCall struct {
	source, mint, other, authority int // other is the destination or the delegate
	amount                         uint64
	decimals                       uint8
}

// Codes of SPL Token.
const (
	codeFunds       = 1
	codeInvalidMint = 2
	codeMint        = 3
	codeOwner       = 4
	codeNotEmpty    = 11
	codeInvalid     = 12
	codeOverflow    = 14
	codeDecimals    = 18
	codeNotNative   = 19
)

// tokenLast is the last tag of SPL Token.
const tokenLast = 24

// tokenCodes are the words that the program logs with a code.
var tokenCodes = map[uint32]string{
	codeFunds: "insufficient funds", codeMint: "Account not associated with this Mint",
	codeOwner: "owner does not match", codeInvalid: "Invalid instruction", codeOverflow: "Operation overflowed",
	codeNotEmpty:  "Non-native account can only be closed if its balance is zero",
	codeDecimals:  "decimals different from the Mint decimals",
	codeNotNative: "Instruction does not support non-native tokens",
}

// token runs SPL Token. Its own errors are in the log, and what the runtime finds after it is not.
func (c *call) token() error {
	if len(c.data) == 0 {
		return custom(codeInvalid, errData)
	}
	err := c.tagged()
	if f, _ := FaultOf(err); err != nil && f.Instruction != readonlyLamports && !errors.Is(err, errOffered) {
		word := f.Instruction
		if word == FaultCustom {
			word = tokenCodes[f.Code]
		}
		c.log("Program log: Error: %s", word)
	}
	if err != nil {
		return err
	}
	return c.unchanged()
}

func (c *call) tagged() error {
	tag := c.data[0]
	switch tag {
	case tokenTransfer, tokenTransferChecked:
		return c.amounts(tag == tokenTransferChecked, c.transfer)
	case tokenApprove, tokenApproveChecked:
		return c.amounts(tag == tokenApproveChecked, c.approve)
	case tokenRevoke:
		return c.revoke()
	case tokenCloseAccount:
		return c.closeAccount()
	case tokenSyncNative:
		return c.syncNative()
	}
	if tag > tokenLast {
		return custom(codeInvalid, errData)
	}
	return c.unoffered("SPL Token %d", tag)
}

// amounts runs the instructions that carry an amount: [3|4, amount] with accounts
// source, other, authority; [12|13, amount, decimals] with source, mint, other, authority. Bytes behind them are passed
// over.
func (c *call) amounts(checked bool, run func(tokenCall) error) error {
	t := tokenCall{source: 0, mint: -1, other: 1, authority: 2}
	size := 9
	if checked {
		t = tokenCall{source: 0, mint: 1, other: 2, authority: 3}
		size = 10
	}
	if len(c.data) < size {
		return custom(codeInvalid, errData)
	}
	t.amount = binary.LittleEndian.Uint64(c.data[1:])
	if checked {
		t.decimals = c.data[9]
	}
	if err := c.need(t.authority + 1); err != nil {
		return err
	}
	return run(t)
}

// tokenAt is the token account at a place, ready to be changed. Of one that is not writable it is a copy, which
// unchanged compares at the end: the runtime refuses other bytes there, not an instruction that changes none.
func (c *call) tokenAt(i int) (token, error) {
	a := c.get(c.key(i)).clone()
	if c.accounts[i].Writable {
		a = *c.edit(c.key(i))
	} else {
		c.copies = append(c.copies, copied{c.key(i), a})
	}
	t, ok := asToken(a)
	if !ok {
		return nil, named("InvalidAccountData", fmt.Errorf("%w: %s is no token account", errState, c.key(i)))
	}
	return t, nil
}

// unchanged refuses an instruction that would have changed an account that is not writable.
func (c *call) unchanged() error {
	for _, v := range c.copies {
		if !c.get(v.key).equal(v.account) {
			return named(readonlyData, fmt.Errorf("%w: %s", errReadonly, v.key))
		}
	}
	return nil
}

// checkMint compares the mint and the decimals that an instruction names.
func (c *call) checkMint(t tokenCall, source token) error {
	if t.mint < 0 {
		return nil
	}
	m, ok := asMint(c.get(c.key(t.mint)))
	if !ok || source.mint() != c.key(t.mint) {
		return custom(codeMint, fmt.Errorf("%w: %s", errMint, c.key(t.mint)))
	}
	if m.decimals() != t.decimals {
		return custom(codeDecimals, fmt.Errorf("%w: it has %d decimals, not %d", errMint, m.decimals(), t.decimals))
	}
	return nil
}

func (c *call) transfer(t tokenCall) error {
	source, err := c.tokenAt(t.source)
	if err != nil {
		return err
	}
	destination, err := c.tokenAt(t.other)
	if err != nil {
		return err
	}
	if source.amount() < t.amount {
		return custom(codeFunds, fmt.Errorf("%w: %s holds %d, %d are needed", errFunds, c.key(t.source),
			source.amount(), t.amount))
	}
	if source.mint() != destination.mint() {
		return custom(codeMint, errMint)
	}
	if err := c.checkMint(t, source); err != nil {
		return err
	}
	toItself := c.key(t.source) == c.key(t.other)
	if err := c.spend(source, t.authority, t.amount, toItself); err != nil {
		return err
	}
	if toItself {
		return nil
	}
	sum := destination.amount()
	if err := credit(&sum, t.amount); err != nil {
		return custom(codeOverflow, err)
	}
	source.setAmount(source.amount() - t.amount)
	destination.setAmount(sum)
	return nil
}

// spend asks whether authority may move an amount and uses up what it was approved for. A
// delegate is looked at before the owner, as SPL Token does.
func (c *call) spend(source token, signer int, amount uint64, toItself bool) error {
	authority := c.key(signer)
	delegate, ok := source.delegate()
	if !ok || delegate != authority {
		return c.owner(source, signer)
	}
	if err := c.signer(signer); err != nil {
		return err
	}
	left := source.delegated()
	switch {
	case left < amount:
		return custom(codeFunds, fmt.Errorf("%w: %s may move %d, not %d", errFunds, authority, left, amount))
	case toItself:
	case left == amount:
		source.clearDelegate()
	default:
		source.setDelegate(delegate, left-amount)
	}
	return nil
}

// owner asks for the signature of the owner.
func (c *call) owner(t token, i int) error {
	if t.owner() != c.key(i) {
		return custom(codeOwner, fmt.Errorf("%w: %s may not move it", errOwner, c.key(i)))
	}
	return c.signer(i)
}

func (c *call) approve(t tokenCall) error {
	source, err := c.tokenAt(t.source)
	if err != nil {
		return err
	}
	if err := c.checkMint(t, source); err != nil {
		return err
	}
	if err := c.owner(source, t.authority); err != nil {
		return err
	}
	source.setDelegate(c.key(t.other), t.amount)
	return nil
}

// revoke takes accounts source and owner, or source and delegate.
func (c *call) revoke() error {
	if err := c.need(1); err != nil {
		return err
	}
	source, err := c.tokenAt(0) // looked at before the second is missed
	if err != nil {
		return err
	}
	if err := c.need(2); err != nil {
		return err
	}
	if delegate, ok := source.delegate(); ok && delegate == c.key(1) {
		err = c.signer(1)
	} else {
		err = c.owner(source, 1)
	}
	if err != nil {
		return err
	}
	source.clearDelegate()
	return nil
}

// closeAccount takes accounts account, destination, owner: an empty token account ends,
// its lamports go to the destination. Nobody can name another close authority here.
func (c *call) closeAccount() error {
	if err := c.need(3); err != nil {
		return err
	}
	if c.key(0) == c.key(1) {
		return named("InvalidAccountData", fmt.Errorf("%w: an account cannot be closed into itself", errState))
	}
	t, err := c.tokenAt(0)
	if err != nil {
		return err
	}
	if t.amount() != 0 {
		return custom(codeNotEmpty, fmt.Errorf("%w: %s still holds %d", errState, c.key(0), t.amount()))
	}
	if err := c.owner(t, 2); err != nil {
		return err
	}
	destination, err := c.writable(1, readonlyLamports)
	if err != nil {
		return err
	}
	a, err := c.writable(0, readonlyLamports)
	if err != nil {
		return err
	}
	if err := credit(&destination.Lamports, a.Lamports); err != nil {
		return custom(codeOverflow, err)
	}
	*a = Account{Owner: solmsg.SystemProgram()}
	return nil
}

// syncNative refuses every account: wrapped SOL does not exist on this ledger.
func (c *call) syncNative() error {
	if err := c.need(1); err != nil {
		return err
	}
	if c.get(c.key(0)).Owner != solmsg.TokenProgram() {
		return named("IncorrectProgramId", fmt.Errorf("%w: %s is no token account", errState, c.key(0)))
	}
	if _, err := c.tokenAt(0); err != nil {
		return err
	}
	return custom(codeNotNative, fmt.Errorf("%w: %s is not wrapped SOL", errState, c.key(0)))
}
