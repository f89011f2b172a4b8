package solana

import (
	"fmt"

	"coffer/api/op/solmsg"
)

// memo runs the memo program: UTF-8, vouched for by every account that is named.
func (c *call) memo() error {
	for i := range c.accounts {
		if err := c.signer(i); err != nil {
			return err
		}
	}
	text, ok := solmsg.DecodeMemo(c.data)
	if !ok {
		return fmt.Errorf("%w: a memo must be UTF-8", errData)
	}
	c.log("Program log: Memo (len %d): %q", len(text), text)
	return nil
}

// associated runs the associated token account program: Create and CreateIdempotent.
// Accounts: payer, account, owner, mint, system program, token program.
func (c *call) associated() error {
	kind, ok := solmsg.DecodeATA(c.data)
	if !ok {
		return errData
	}
	if kind == solmsg.ATARecoverNested {
		return errOffered
	}
	if err := c.need(6); err != nil {
		return err
	}
	owner, mint := c.key(2), c.key(3)
	if c.key(4) != solmsg.SystemProgram() || c.key(5) != solmsg.TokenProgram() {
		return fmt.Errorf("%w: the system and the token program must follow the mint", errAccounts)
	}
	want, err := solmsg.AssociatedTokenAccount(owner, mint, solmsg.TokenProgram())
	if err != nil || want != c.key(1) {
		return fmt.Errorf("%w: %s is not the associated account", errState, c.key(1))
	}
	existing := c.get(c.key(1))
	if t, ok := asToken(existing); ok && kind == solmsg.ATACreateIdempotent && t.owner() == owner && t.mint() == mint {
		return nil
	}
	if existing.Owner != solmsg.SystemProgram() || len(existing.Data) > 0 {
		return fmt.Errorf("%w: %s exists", errState, c.key(1))
	}
	if _, ok := asMint(c.get(mint)); !ok {
		return fmt.Errorf("%w: %s is no mint", errState, mint)
	}
	return c.createToken(existing.Lamports, owner, mint)
}

// createToken makes account 1 a token account; the payer, account 0, pays what is missing
// of its rent minimum.
func (c *call) createToken(lamports uint64, owner, mint solmsg.Key) error {
	calls := 4 // of the token program, and one that creates the account
	if lamports > 0 {
		calls = 5 // Allocate and Assign in place of it
	}
	if lamports > 0 && lamports < RentMinimum(tokenSize) {
		calls = 6 // and Transfer
	}
	if err := c.ran(calls); err != nil {
		return err
	}
	if least := RentMinimum(tokenSize); lamports < least {
		if err := c.signer(0); err != nil {
			return err
		}
		if err := c.move(0, 1, least-lamports); err != nil {
			return err
		}
	}
	a, err := c.writable(1)
	if err != nil {
		return err
	}
	a.Owner, a.Data = solmsg.TokenProgram(), newToken(owner, mint)
	return nil
}
