package httpapi

import (
	"cmp"
	"context"
	"encoding/hex"
	"math/big"
	"strconv"

	"coffer/api/amount"
	"coffer/api/caip"
	"coffer/api/catalog"
	"coffer/api/op/solmsg"
	"coffer/api/service/chain/solana"
	"coffer/api/text"
)

// change is one balance that a Solana transaction changed, in whole units with the symbol.
type change struct {
	Owner             labelled
	Before, After, By string
}

// maxLine bounds a line of a log and a memo on the page, in characters.
const maxLine = 400

// solana fills the page of a Solana transaction, named by its first signature.
func (x *explorer) solana(ctx context.Context, v *view, signature string) (bool, error) {
	v.Chain = "Solana (" + caip.SolanaMainnet().String() + ")"
	if x.network.Solana == nil {
		return false, nil // a network of the first programs
	}
	rc, found, err := x.network.Solana.Receipt(ctx, signature)
	if err != nil || !found {
		return false, err
	}
	m, err := solmsg.Parse(rc.Message)
	if err != nil {
		return false, err
	}
	v.Title, v.Hash, v.Success = "Transaction "+rc.Signature, rc.Signature, rc.Success
	payer := x.key(m.FeePayer())
	v.Facts = []fact{
		{Name: "Slot", Value: strconv.FormatUint(rc.Slot, 10)}, {Name: "Time", Value: utc(rc.Time)},
		{Name: "Fee payer", At: &payer},
		{Name: "Fee", Value: x.money("", new(big.Int).SetUint64(rc.Fee))},
		{Name: "Block hash", Value: m.Blockhash.String(), Code: true},
	}
	for i, k := range m.Signers()[1:] {
		at := x.key(k)
		v.Facts = append(v.Facts, fact{Name: "Signer " + strconv.Itoa(i+2), At: &at})
	}
	if !rc.Success {
		v.Facts = append(v.Facts, fact{Name: "Reason", Value: text.Clean(rc.Error, maxLine)})
		if rc.Instruction >= 0 {
			v.Facts = append(v.Facts, fact{Name: "Failed at", Value: "instruction " + strconv.Itoa(rc.Instruction+1)})
		}
	}
	v.EventsTitle = "Instructions"
	for _, in := range m.Instructions {
		v.Events = append(v.Events, x.instruction(in))
	}
	for _, c := range rc.Changes {
		v.Changes = append(v.Changes, x.change(c))
	}
	for _, l := range rc.Logs {
		v.Logs = append(v.Logs, text.Clean(l, maxLine))
	}
	return true, nil
}

func (x *explorer) change(c solana.Change) change {
	out := change{Owner: labelled{Address: c.Owner}, Before: x.money(c.Mint, c.Before), After: x.money(c.Mint, c.After)}
	if k, err := solmsg.ParseKey(c.Owner); err == nil {
		out.Owner = x.key(k)
	}
	by := new(big.Int).Sub(c.After, c.Before)
	sign := "+"
	if by.Sign() < 0 {
		sign = "\u2212"
	}
	out.By = sign + x.money(c.Mint, by.Abs(by))
	return out
}

// money writes an amount of a mint, of lamports where the mint is empty, in whole units; of an unknown mint in base
// units.
func (x *explorer) money(mint string, v *big.Int) string {
	asset := caip.SOL()
	if mint != "" {
		k, err := caip.ParseSolanaKey(mint)
		if err != nil {
			return v.String()
		}
		asset = caip.SPL(k)
	}
	if e, ok := x.network.Catalog.Entity(asset); ok {
		return human(v, e)
	}
	return v.String() + " of " + mint
}

func human(v *big.Int, e catalog.Entity) string {
	return amount.Human(v, e.Decimals) + " " + e.Symbol
}

// key labels an account of the service.
func (x *explorer) key(k solmsg.Key) labelled {
	programs := map[solmsg.Key]string{
		solmsg.SystemProgram(): "System", solmsg.TokenProgram(): "SPL Token",
		solmsg.ATAProgram(): "Associated Token Account", solmsg.MemoProgram(): "Memo",
		solmsg.ComputeBudgetProgram(): "Compute Budget",
	}
	return labelled{k.String(), cmp.Or(programs[k], x.network.Keys[k])}
}

// instruction decodes what the ledger's programs know, and shows the data of everything else.
func (x *explorer) instruction(in solmsg.Instruction) event {
	e := event{Where: "Program", At: x.key(in.Program)}
	var names []string
	plain := func(name, value string) { e.Args = append(e.Args, argument{Name: name, Value: value}) }
	switch in.Program {
	case solmsg.SystemProgram():
		if v, ok := solmsg.DecodeSystemTransfer(in.Data); ok {
			e.Name, names = "Transfer", []string{"from", "to"}
			plain("amount", x.money("", new(big.Int).SetUint64(v)))
		}
	case solmsg.TokenProgram():
		if v, decimals, ok := solmsg.DecodeTokenTransferChecked(in.Data); ok && len(in.Accounts) > 1 {
			e.Name, names = "TransferChecked", []string{"source", "mint", "destination", "authority"}
			plain("amount", x.money(in.Accounts[1].Key.String(), new(big.Int).SetUint64(v)))
			plain("decimals", strconv.Itoa(int(decimals)))
		} else if v, ok := solmsg.DecodeTokenTransfer(in.Data); ok {
			e.Name, names = "Transfer", []string{"source", "destination", "authority"}
			plain("amount in base units", strconv.FormatUint(v, 10))
		}
	case solmsg.ATAProgram():
		if kind, ok := solmsg.DecodeATA(in.Data); ok && kind != solmsg.ATARecoverNested {
			e.Name, names = "Create", []string{"payer", "account", "owner", "mint"}
			if kind == solmsg.ATACreateIdempotent {
				e.Name = "CreateIdempotent"
			}
		}
	case solmsg.MemoProgram():
		if memo, ok := solmsg.DecodeMemo(in.Data); ok {
			e.Name = "Memo"
			plain("text", text.Clean(memo, maxLine))
		}
	case solmsg.ComputeBudgetProgram():
		if units, ok := solmsg.DecodeComputeUnitLimit(in.Data); ok {
			e.Name = "SetComputeUnitLimit"
			plain("units", strconv.FormatUint(uint64(units), 10))
		} else if price, ok := solmsg.DecodeComputeUnitPrice(in.Data); ok {
			e.Name = "SetComputeUnitPrice"
			plain("micro-lamports", strconv.FormatUint(price, 10))
		}
	}
	if e.Name == "" {
		e.Name = "Unknown instruction"
		plain("data", hex.EncodeToString(in.Data))
	}
	for i, a := range in.Accounts {
		name := "account " + strconv.Itoa(i+1)
		if i < len(names) {
			name = names[i]
		}
		at := x.key(a.Key)
		e.Args = append(e.Args, argument{name, at.Address, at.Name})
	}
	return e
}
