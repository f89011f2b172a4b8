package verify

import (
	"encoding/binary"
	"encoding/hex"
	"errors"
	"math/big"
	"slices"
	"strconv"

	"coffer/api/amount"
	"coffer/api/caip"
	"coffer/api/op/solmsg"
	"coffer/api/text"
)

// at is the place of an instruction in the document.
func (s *solanaPay) at(k int) string { return s.path + "/instructions/" + strconv.Itoa(k) }

// instruction checks one instruction, makes it again from the values it must have and shows it. Everything that is not
// the payment, its memo or its price is refused.
func (s *solanaPay) instruction(k int, ix solmsg.Instruction) {
	switch ix.Program {
	case solmsg.SystemProgram():
		s.system(k, ix)
	case solmsg.TokenProgram():
		s.transferToken(k, ix)
	case solmsg.ATAProgram():
		s.openAccount(k, ix)
	case solmsg.MemoProgram():
		s.note(k, ix)
	case solmsg.ComputeBudgetProgram():
		s.budget(k, ix)
	default:
		s.foreign(k, ix)
	}
}

// system accepts the one transfer of coins to the vault (TH-S7, S8, S10, S11).
func (s *solanaPay) system(k int, ix solmsg.Instruction) {
	path := s.at(k)
	lamports, ok := solmsg.DecodeSystemTransfer(ix.Data)
	if !ok {
		if tag := systemTag(ix.Data); slices.Contains([]uint32{4, 5, 6, 7, 12}, tag) {
			s.add(Refuse, "S8", "The message would never expire: it uses a durable nonce instead of a block hash.",
				path, "a transfer", "system instruction "+strconv.FormatUint(uint64(tag), 10))
			return
		}
		s.add(Refuse, "S7",
			"The message asks the system program for something else than a transfer; that can take the account away.",
			path, "a transfer", short(ix.Data))
		return
	}
	if !s.must(len(ix.Accounts) == 2, "S7", "a transfer has a giver and a receiver", path+"/keys", "2 accounts",
		plural(len(ix.Accounts), "account")) {
		return
	}
	from, to := ix.Accounts[0].Key, ix.Accounts[1].Key
	s.must(!s.token, "S10", "the payment is of the named asset", path, s.wire.AssetType, "a transfer of SOL")
	same(s.judge, s.user, from, "S10", "the payment leaves your own account", path+"/keys/0")
	same(s.judge, s.vault, to, "S11", s.toWhom(), path+"/keys/1")
	s.must(lamports == s.amount, "S10", "the payment is exactly the named amount", path+"/data",
		strconv.FormatUint(s.amount, 10), strconv.FormatUint(lamports, 10))
	s.paid++
	s.builds = append(s.builds, solmsg.SystemTransfer(s.user, s.vault, s.amount))
	s.show(ix.Program, "transfer", arg("from", s.user), arg("to", s.vault), s.quantityArg("lamports", 9))
}

func systemTag(data []byte) uint32 {
	if len(data) < 4 {
		return ^uint32(0)
	}
	return binary.LittleEndian.Uint32(data)
}

// transferToken accepts the one TransferChecked from the user's token account to the vault's (TH-S9, S10, S11).
func (s *solanaPay) transferToken(k int, ix solmsg.Instruction) {
	path := s.at(k)
	v, decimals, ok := solmsg.DecodeTokenTransferChecked(ix.Data)
	if !s.must(ok, "S9", "the token program only transfers, naming mint and decimals", path+"/data", "TransferChecked",
		short(ix.Data)) {
		return
	}
	if !s.must(len(ix.Accounts) == 4, "S9", "a transfer of tokens names source, mint, destination and owner",
		path+"/keys", "4 accounts", plural(len(ix.Accounts), "account")) {
		return
	}
	source, mint, target, owner := ix.Accounts[0].Key, ix.Accounts[1].Key, ix.Accounts[2].Key, ix.Accounts[3].Key
	s.paid++
	if !s.must(s.token, "S10", "the payment is of the named asset", path, s.wire.AssetType, "a transfer of tokens") {
		return
	}
	same(s.judge, s.mint, mint, "S10", "the payment is of the named asset", path+"/keys/1")
	s.must(int(decimals) == s.decimals, "S10", "the token has its own decimals", path+"/data", strconv.Itoa(s.decimals),
		strconv.Itoa(int(decimals)))
	same(s.judge, s.source, source, "S10", "the payment leaves your own account", path+"/keys/0")
	same(s.judge, s.user, owner, "S10", "you are the owner of what is paid", path+"/keys/3")
	same(s.judge, s.target, target, "S11", s.toWhom(), path+"/keys/2")
	s.must(v == s.amount, "S10", "the payment is exactly the named amount", path+"/data",
		strconv.FormatUint(s.amount, 10), strconv.FormatUint(v, 10))
	s.builds = append(s.builds, solmsg.TokenTransferChecked(s.source, s.mint, s.target, s.user, s.amount, decimals))
	s.show(ix.Program, "transferChecked", arg("source", s.source), arg("mint", s.mint), arg("destination", s.target),
		arg("owner", s.user), s.quantityArg("amount", s.decimals))
}

// toWhom says where a payment has to go.
func (s *solanaPay) toWhom() string {
	return s.words("the payment goes into the pinned vault", "the payment goes to the recipient that you named")
}

// openAccount accepts that the sponsor pays for the vault's token account, or the user once for the recipient's, and
// nothing else of that program.
func (s *solanaPay) openAccount(k int, ix solmsg.Instruction) {
	path := s.at(k)
	kind, ok := solmsg.DecodeATA(ix.Data)
	ok = s.must(ok && kind == solmsg.ATACreateIdempotent && len(ix.Accounts) == 6 &&
		s.token, "S9", "a token account is only opened where the payment needs one", path, "CreateIdempotent",
		short(ix.Data))
	if !ok {
		return
	}
	payer, account, owner, mint := ix.Accounts[0].Key, ix.Accounts[1].Key, ix.Accounts[2].Key, ix.Accounts[3].Key
	same(s.judge, s.sponsor, payer, "S10", s.words("the sponsor pays for the vault's token account",
		"you pay for the recipient's token account"), path+"/keys/0")
	s.must(account == s.target && owner == s.vault && mint == s.mint, "S11",
		s.words("the token account that is opened is the vault's",
			"the token account that is opened is the recipient's"),
		path+"/keys/2", s.vault.String(), owner.String())
	if s.itself {
		s.must(!s.opened, "S9", "a token account is opened once", path, "once", "again")
	}
	s.opened = true
	s.builds = append(s.builds, solmsg.CreateATAIdempotent(s.sponsor, s.vault, s.mint))
	s.show(ix.Program, "createIdempotent", arg("payer", payer), arg("account", account), arg("owner", owner),
		arg("mint", mint))
}

// note accepts the memo that binds the payment to the quote.
func (s *solanaPay) note(k int, ix solmsg.Instruction) {
	text, ok := solmsg.DecodeMemo(ix.Data)
	s.noted++
	if s.must(ok && text == s.memo, "Q1", "each payment is bound to this quote's id", s.at(k)+"/data", s.memo, text) {
		s.builds = append(s.builds, solmsg.Memo(s.memo))
		s.show(ix.Program, "memo", ArgView{"text", "string", s.memo})
	}
}

// budget accepts one limit and one price of compute units.
func (s *solanaPay) budget(k int, ix solmsg.Instruction) {
	const title = "limit and price of computing are set once"
	path := s.at(k)
	if limit, ok := solmsg.DecodeComputeUnitLimit(ix.Data); ok {
		if s.must(s.limit == nil, "S3", title, path, "once", "again") {
			s.limit = &limit
			s.builds = append(s.builds, solmsg.ComputeUnitLimit(limit))
			s.show(ix.Program, "setComputeUnitLimit", ArgView{"units", "u32", strconv.FormatUint(uint64(limit), 10)})
		}
		return
	}
	price, ok := solmsg.DecodeComputeUnitPrice(ix.Data)
	if !s.must(ok, "S3", "of computing only limit and price are set", path+"/data", "a limit or a price",
		short(ix.Data)) {
		return
	}
	if s.must(s.price == nil, "S3", title, path, "once", "again") {
		s.price = &price
		s.builds = append(s.builds, solmsg.ComputeUnitPrice(price))
		s.show(ix.Program, "setComputeUnitPrice", ArgView{"microLamports", "u64", strconv.FormatUint(price, 10)})
	}
}

// foreign refuses programs that nobody pinned. One of the user's policy may run, but never gets an account or the
// signature of the user: with those it could take everything (TH-S6).
func (s *solanaPay) foreign(k int, ix solmsg.Instruction) {
	path := s.at(k)
	pinned := slices.Contains(s.Limits.Programs, ix.Program)
	if !s.must(pinned, "S6", "only known programs run with your signature", path+"/programId",
		"a program of this wallet's list", ix.Program.String()) {
		return
	}
	b := solmsg.Build{Program: ix.Program, Data: ix.Data}
	args := []ArgView{{"data", "bytes", hex0x(ix.Data)}}
	for n, a := range ix.Accounts {
		yours := a.Key == s.user || (s.token && a.Key == s.source)
		if !s.must(!yours, "S6", "a program of your policy gets none of your accounts", path+"/keys/"+strconv.Itoa(n),
			"others", a.Key.String()) {
			return
		}
		b.Accounts = append(b.Accounts, solmsg.Meta{Key: a.Key, Signer: a.Signer, Writable: a.Writable})
		args = append(args, arg("account "+strconv.Itoa(n+1), a.Key))
	}
	s.unread = append(s.unread, ix.Program.String())
	s.builds = append(s.builds, b)
	s.show(ix.Program, "", args...)
}

// foreignUnread warns once about all instructions that only their bytes describe.
func (s *solanaPay) foreignUnread() {
	title := "An instruction of a program of your policy could not be decoded; only its bytes can be shown."
	switch n := len(s.unread); {
	case n == 0:
		return
	case n > 1:
		title = strconv.Itoa(n) +
			" instructions of programs of your policy could not be decoded; only their bytes can be shown."
	}
	s.add(Warn, "V3", title, s.path+"/instructions", "", text.Few(s.unread, 2))
}

// solanaError names the row of a refusal of the message gate.
func (s *solanaPay) solanaError(err error, title string) {
	code := "S1"
	var refused *solmsg.Error
	if errors.As(err, &refused) {
		code = refused.Code
	}
	s.add(Refuse, code, failed(title), s.path+"/dataToSign", "a canonical message", err.Error())
}

// short shows the beginning of an instruction's data.
func short(data []byte) string {
	if len(data) == 0 {
		return "no data"
	}
	return "data " + hex.EncodeToString(data[:min(8, len(data))])
}

func arg(name string, k solmsg.Key) ArgView { return ArgView{name, "address", k.String()} }

func (s *solanaPay) quantityArg(name string, decimals int) ArgView {
	v := new(big.Int).SetUint64(s.amount)
	return ArgView{name, "u64", v.String() + " (" + amount.Human(v, decimals) + ")"}
}

func (s *solanaPay) show(program solmsg.Key, name string, args ...ArgView) {
	s.views = append(s.views, InstructionView{Program: program.String(), ProgramName: programName(program), Name: name,
		Args: args})
}

func programName(k solmsg.Key) string {
	switch k {
	case solmsg.SystemProgram():
		return "System"
	case solmsg.TokenProgram():
		return "Token"
	case solmsg.Token2022Program():
		return "Token 2022"
	case solmsg.ATAProgram():
		return "Associated Token Account"
	case solmsg.MemoProgram():
		return "Memo"
	case solmsg.ComputeBudgetProgram():
		return "Compute Budget"
	}
	return ""
}

func (s *solanaPay) view() *SolanaView {
	return &SolanaView{FeePayer: s.message.FeePayer().String(), BlockHash: s.message.Blockhash.String(), Memo: s.memo,
		Instructions: s.views}
}

// solanaSpend is what a payment on Solana takes, with Solana's fee where the user pays it.
func (p Policy) solanaSpend(asset caip.Asset, v, fee *big.Int) []AmountView {
	if fee == nil {
		return []AmountView{p.amountView(asset, v)}
	}
	if asset == caip.SOL() {
		return []AmountView{p.amountView(asset, new(big.Int).Add(v, fee))}
	}
	return []AmountView{p.amountView(asset, v), p.amountView(caip.SOL(), fee)}
}
