package solana

import (
	"encoding/binary"
	"fmt"
	"slices"

	"coffer/api/op/solmsg"
)

// memo runs the memo program: UTF-8, vouched for by every account that is named.
func (c *call) memo() error {
	if len(c.accounts) > 0 {
		c.log("Program log: Signed by:")
	}
	var missing error
	for i := range c.accounts {
		if err := c.signer(i); err != nil {
			missing = err
			continue
		}
		c.log("Program log: %s", c.key(i))
	}
	if missing != nil {
		return missing
	}
	c.log("Program log: Memo (len %d)", len(c.data))
	text, ok := solmsg.DecodeMemo(c.data)
	if !ok {
		return named("ProgramFailedToComplete", fmt.Errorf("%w: a memo must be UTF-8", errData))
	}
	c.log("Program log: %s", text)
	return nil
}

// associated runs the associated token account program: Create and CreateIdempotent.
// Accounts: payer, account, owner, mint, system program, token program.
func (c *call) associated() error {
	kind, ok := solmsg.DecodeATA(c.data)
	if !ok {
		return named("InvalidInstructionData", errData)
	}
	c.log("Program log: %s", [...]string{"Create", "CreateIdempotent", "RecoverNested"}[kind])
	if kind == solmsg.ATARecoverNested {
		return c.unoffered("RecoverNested")
	}
	if err := c.need(6); err != nil {
		return err
	}
	owner, mint := c.key(2), c.key(3)
	want, err := solmsg.AssociatedTokenAccount(owner, mint, c.key(5))
	if err != nil || want != c.key(1) {
		c.log("Program log: Error: Associated address does not match seed derivation")
		return named("InvalidSeeds", fmt.Errorf("%w: %s is not the associated account", errState, c.key(1)))
	}
	if c.key(5) != solmsg.TokenProgram() {
		return c.unoffered("accounts of the token program %s", c.key(5))
	}
	existing := c.get(c.key(1))
	if t, ok := asToken(existing); ok && kind == solmsg.ATACreateIdempotent && t.owner() == owner && t.mint() == mint {
		return nil
	}
	if existing.Owner != solmsg.SystemProgram() || len(existing.Data) > 0 {
		return named("IllegalOwner", fmt.Errorf("%w: %s exists", errState, c.key(1)))
	}
	return c.createToken(existing.Lamports, owner, mint)
}

// createToken makes account 1 a token account; the payer, account 0, pays what is missing of its rent minimum. The
// steps are those of the program.
func (c *call) createToken(lamports uint64, owner, mint solmsg.Key) error {
	err := c.inside(solmsg.TokenProgram(), tokenSizeOf, []int{3}, func() error { return c.sizeOf(mint) })
	if err != nil {
		return err
	}
	least := RentMinimum(tokenSize)
	if lamports == 0 {
		data := binary.LittleEndian.AppendUint64(systemData(systemCreate, least), tokenSize)
		err := c.nested(append(data, ownedByToken()...), []int{0, 1}, func() error { return c.move(0, 1, least) })
		if err != nil {
			return err
		}
	} else if err := c.equip(lamports, least); err != nil {
		return err
	}
	c.log("Program log: Initialize the associated token account")
	none := func() error { return nil }
	if err := c.inside(solmsg.TokenProgram(), tokenImmutable, []int{1}, none); err != nil {
		return err
	}
	return c.inside(solmsg.TokenProgram(), append([]byte{18}, owner[:]...), []int{1, 3}, func() error {
		a := c.edit(c.key(1))
		a.Owner, a.Data = solmsg.TokenProgram(), newToken(owner, mint)
		return nil
	})
}

// equip makes a token account of one that has lamports already.
func (c *call) equip(lamports, least uint64) error {
	if lamports < least {
		err := c.nested(systemData(systemTransfer, least-lamports), []int{0, 1}, func() error {
			return c.move(0, 1, least-lamports)
		})
		if err != nil {
			return err
		}
	}
	none := func() error { return nil }
	if err := c.nested(systemData(systemAllocate, tokenSize), []int{1}, none); err != nil {
		return err
	}
	return c.nested(append(binary.LittleEndian.AppendUint32(nil, systemAssign), ownedByToken()...), []int{1}, none)
}

func systemData(tag uint32, n uint64) []byte {
	return binary.LittleEndian.AppendUint64(binary.LittleEndian.AppendUint32(nil, tag), n)
}

func ownedByToken() []byte { k := solmsg.TokenProgram(); return k[:] }

// Instructions of SPL Token that only the associated token account program calls here.
var (
	tokenSizeOf    = []byte{21, 7, 0} // GetAccountDataSize with ImmutableOwner
	tokenImmutable = []byte{22}
)

// sizeOf is GetAccountDataSize.
func (c *call) sizeOf(mint solmsg.Key) error {
	a := c.get(mint)
	if _, ok := asMint(a); ok {
		c.log("Program return: %s pQAAAAAAAAA=", solmsg.TokenProgram()) // 165
		return nil
	}
	err := fmt.Errorf("%w: %s is no mint", errState, mint)
	if a.Owner != solmsg.TokenProgram() {
		c.log("Program log: Error: IncorrectProgramId")
		return named("IncorrectProgramId", err)
	}
	c.log("Program log: Error: Invalid Mint")
	return custom(codeInvalidMint, err)
}

// nested calls the system program from a program: every account must be writable, the payer must have signed, and the
// program be there, which the runtime looks at in this order.
func (c *call) nested(data []byte, accounts []int, run func() error) error {
	const escalated = "PrivilegeEscalation"
	for _, i := range accounts {
		var err error
		if _, err = c.writable(i, escalated); err != nil {
			c.log("%s's writable privilege escalated", c.key(i))
		} else if i == 0 && !c.accounts[0].Signer {
			c.log("%s's signer privilege escalated", c.key(i))
			err = named(escalated, c.signer(i))
		}
		if err != nil {
			c.log("Program return: %s pQAAAAAAAAA=", solmsg.ATAProgram())
			return err
		}
	}
	if c.key(4) != solmsg.SystemProgram() {
		c.log("Unknown program %s", solmsg.SystemProgram())
		c.log("Program return: %s pQAAAAAAAAA=", solmsg.ATAProgram())
		return named("MissingAccount", fmt.Errorf("%w: the system program must follow the mint", errAccounts))
	}
	return c.inside(solmsg.SystemProgram(), data, accounts, run)
}

// inside runs an instruction that a program calls.
func (c *call) inside(program solmsg.Key, data []byte, accounts []int, run func() error) error {
	if err := c.ran(1); err != nil {
		return err
	}
	place := func(k solmsg.Key) byte { return byte(slices.Index(c.message.Keys, k)) }
	in := Inner{Instruction: c.at, Program: place(program), Data: data}
	for _, i := range accounts {
		in.Accounts = append(in.Accounts, place(c.key(i)))
	}
	c.inner = append(c.inner, in)
	return c.invoke(program, 2, run)
}
