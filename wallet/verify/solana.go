package verify

import (
	"bytes"
	"encoding/hex"
	"math/big"
	"slices"
	"strconv"
	"time"

	"coffer/api"
	"coffer/api/caip"
	"coffer/api/op/solmsg"
	"coffer/wallet/intent"
)

// Figures of Solana: the fee of one signature in lamports, and how long after it was made a block hash is good at the
// longest (150 slots).
const (
	lamportsPerSignature = 5_000
	blockHashLife        = 90 * time.Second
)

// solanaPay is one payment on Solana while it is checked: what the intent, the pins and the operation's own amount lead
// to, and what was found of it.
type solanaPay struct {
	*judge
	path string
	wire api.ChainOperation
	memo string // the quote's id

	user, sponsor, vault solmsg.Key
	token                bool
	mint, source, target solmsg.Key // of a token: mint, the user's account, the vault's account
	decimals             int
	amount               uint64

	message     solmsg.Message
	paid, noted int // transfers and memos found
	limit       *uint32
	price       *uint64
	builds      []solmsg.Build // the same instructions, made from checked values
	views       []InstructionView
	unread      []string // programs of instructions that were not decoded

	itself bool // it pays the recipient, who is then in the place of the vault
	opened bool // it opens the recipient's token account
}

// solanaLeg checks one payment on Solana (TH-S1 to S13; protocol §3.4): one transfer of the named amount into the
// pinned vault, and a memo with the quote's id.
func (j *judge) solanaLeg(w api.ChainOperation, i int, id string, expires int64) (leg, bool) {
	before := j.report.Count(Refuse)
	path := operationPath(i)
	asset, e, ok := j.legAsset(w, path)
	if !ok {
		return leg{}, false
	}
	s := &solanaPay{judge: j, path: path, wire: w, memo: id, decimals: e.decimals}
	s.solanaOnly()
	if !s.parties() || !s.quantity(asset) || !s.read() {
		return leg{}, false
	}
	s.signers()
	s.described()
	for k, ix := range s.message.Instructions {
		s.instruction(k, ix)
	}
	s.foreignUnread()
	s.must(s.paid == 1, "S10", "the message makes one payment", path+"/instructions", "one transfer",
		plural(s.paid, "transfer"))
	s.must(s.noted == 1, "Q1", "each payment is bound to this quote's id", path+"/instructions", "one memo with "+id,
		plural(s.noted, "memo"))
	fee := s.networkFee()
	if j.report.Count(Refuse) != before || !s.again() {
		return leg{}, false
	}
	l := leg{asset: asset, entity: e, amount: new(big.Int).SetUint64(s.amount), solana: s.view()}
	l.solana.Own = s.ownSend(fee)
	l.role = role{name: j.fundingRole(), path: path}
	l.verified = Signing{
		message: VerifiedMessage{network: j.Network.ID, signer: s.user, message: s.message.Bytes()},
		summary: OpSummary{
			Role: l.role.name, Kind: api.AccountSolana, Chain: asset.Chain.String(), Sender: s.user.String(),
			BlockHash: s.message.Blockhash.String(),
			Spend:     j.solanaSpend(asset, l.amount, s.onTop(fee)), ValidUntil: s.until(expires),
		},
	}
	return l, true
}

// fundingRole names the operations that pay for what the intent asks.
func (j *judge) fundingRole() string {
	switch j.in.Kind() {
	case intent.KindSwap:
		return RoleSwap
	case intent.KindTransfer:
		return RoleTransfer
	}
	return RoleFunding
}

// solanaOnly: an operation is of one kind and takes no key from a lookup table, which could be anybody's (TH-L4, S12).
// That it is unsigned was seen before: no table has a place for a signature (S13).
func (s *solanaPay) solanaOnly() {
	w := s.wire
	mixed := w.UserOp != nil || w.TypedDataToSign != nil || w.Delegation != nil
	s.must(!mixed, "L4", "a Solana operation carries nothing of an EVM one", s.path, "a message and its instructions",
		"a user operation beside it")
	s.must(len(w.AddressLookupTableAddresses) == 0, "S12", "every key is in the message itself",
		s.path+"/addressLookupTableAddresses",
		"no lookup tables", plural(len(w.AddressLookupTableAddresses), "lookup table"))
	s.pass("S13", "the message arrives unsigned")
}

// parties takes the payer from the intent, and sponsor and vault from the pins.
func (s *solanaPay) parties() bool {
	account, ok := s.in.SolanaAccount()
	if !s.must(ok, "Q3", "each payment is from one of your accounts", s.path, "an account of yours",
		"a payment on Solana") {
		return false
	}
	var errUser, errSponsor, errVault error
	s.user, errUser = solmsg.ParseKey(account.AccountAddress)
	if s.sendsItself() {
		return s.recipientItself(errUser)
	}
	s.sponsor, errSponsor = solmsg.ParseKey(s.Network.Pins.SolanaSponsor)
	s.vault, errVault = solmsg.ParseKey(s.Network.Pins.SolanaVault)
	known := errSponsor == nil && errVault == nil
	if !s.must(known, "S11", "the network's vault and sponsor on Solana are pinned", s.path, "pinned keys", "none") {
		return false
	}
	apart := errUser == nil && s.user != s.sponsor && s.user != s.vault
	return s.must(apart, "S2", "your account is a key of yours and none of the service's", s.path,
		"an account of yours", account.AccountAddress)
}

// quantity reads what the operation says it moves (TH-S10), and derives the token accounts.
func (s *solanaPay) quantity(asset caip.Asset) bool {
	v, err := parseAmount(s.wire.Amount)
	ok := err == nil && v.Sign() > 0 && v.IsUint64()
	if !s.must(ok, "S10", "each payment has an amount", s.path+"/amount", "more than 0, in 64 bits", s.wire.Amount) {
		return false
	}
	s.amount = v.Uint64()
	mint, token := asset.Mint()
	if !token {
		return true
	}
	// An owner without such an account (one in 2^255) gives the zero key, which the token program refuses.
	s.token, s.mint = true, mint
	s.source, _ = solmsg.AssociatedTokenAccount(s.user, s.mint, solmsg.TokenProgram())
	s.target, _ = solmsg.AssociatedTokenAccount(s.vault, s.mint, solmsg.TokenProgram())
	return true
}

// read parses what would be signed (TH-S1, S2, S12).
func (s *solanaPay) read() bool {
	const title = "what would be signed is one Solana message and nothing else"
	m, err := solmsg.ParseBase64(s.wire.DataToSign)
	if err != nil {
		s.solanaError(err, title)
		return false
	}
	s.pass("S1", title)
	s.message = m
	return s.must(len(m.Lookups) == 0, "S12", "every key is in the message itself", s.path+"/dataToSign",
		"no lookup tables", plural(len(m.Lookups), "lookup table"))
}

// signers checks who signs, who pays the fee, and the block hash (TH-S2, S3, S4).
func (s *solanaPay) signers() {
	m := s.message
	payer := m.FeePayer()
	s.must(payer == s.user || payer == s.sponsor, "S3",
		s.words("Solana's fee is paid by the pinned sponsor or by you", "Solana's fee is paid by you"),
		s.path+"/dataToSign", s.sponsor.String(), payer.String())
	named, err := solmsg.ParseKey(s.wire.FeePayer)
	s.must(err == nil && named == payer, "S3", "the named fee payer matches the message", s.path+"/feePayer",
		payer.String(), s.wire.FeePayer)
	want := []solmsg.Key{payer, s.user}
	if payer == s.user {
		want = want[:1]
	}
	s.must(slices.Equal(m.Signers(), want), "S2", "you sign, and beside the fee payer no one else does",
		s.path+"/dataToSign", plural(len(want), "signature"), plural(len(m.Signers()), "signature"))
	hash, err := solmsg.ParseKey(s.wire.RecentBlockHash)
	s.must(err == nil && hash == m.Blockhash, "S4", "the named block hash matches the message",
		s.path+"/recentBlockHash", m.Blockhash.String(), s.wire.RecentBlockHash)
}

// described compares the instructions as they are listed with those of the message (TH-S5).
func (s *solanaPay) described() {
	const title = "the listed instructions match the message"
	path := s.path + "/instructions"
	want, got := s.message.Wire(), s.wire.Instructions
	if !s.must(len(want) == len(got), "S5", title, path, plural(len(want), "instruction"),
		plural(len(got), "instruction")) {
		return
	}
	for k, ix := range want {
		at := path + "/" + strconv.Itoa(k)
		s.must(got[k].ProgramID == ix.ProgramID, "S5", title, at+"/programId", ix.ProgramID, got[k].ProgramID)
		data, err := hex.DecodeString(got[k].Data)
		plain := err == nil && hex.EncodeToString(data) == ix.Data
		s.must(plain, "S5", title, at+"/data", ix.Data, got[k].Data)
		if !s.must(got[k].Keys != nil && len(got[k].Keys) == len(ix.Keys), "S5", title, at+"/keys",
			plural(len(ix.Keys), "account"), plural(len(got[k].Keys), "account")) {
			continue
		}
		for n, key := range ix.Keys {
			s.must(got[k].Keys[n] == key, "S5", title, at+"/keys/"+strconv.Itoa(n), describeKey(key),
				describeKey(got[k].Keys[n]))
		}
	}
}

func describeKey(k api.SolanaKey) string {
	out := k.Pubkey
	if k.IsSigner {
		out += ", signs"
	}
	if k.IsWritable {
		out += ", writable"
	}
	return out
}

// networkFee is what the user pays Solana for the message, in lamports; nil when the sponsor pays (TH-S3).
func (s *solanaPay) networkFee() *big.Int {
	if s.message.FeePayer() != s.user {
		return nil
	}
	units := solmsg.Units(s.message.Instructions)
	if s.limit != nil {
		units = uint64(*s.limit)
	}
	fee := new(big.Int)
	if s.price != nil { // in micro-lamports for each unit, rounded up
		fee.SetUint64(*s.price)
		fee.Mul(fee, new(big.Int).SetUint64(min(units, solmsg.MaxUnits)))
		fee.Add(fee, big.NewInt(999_999)).Quo(fee, big.NewInt(1_000_000))
	}
	fee.Add(fee, big.NewInt(int64(lamportsPerSignature*len(s.message.Signers()))))
	limit := new(big.Int).SetUint64(s.Caps.SolanaFee)
	got := s.human(caip.SOL(), fee)
	if s.must(fee.Cmp(limit) <= 0, "S3", "Solana's fee is within this wallet's limit", s.path+"/dataToSign",
		"at most "+s.human(caip.SOL(), limit), got) && !s.itself {
		s.add(Show, "S3", "You pay Solana's fee, not the sponsor.", s.path+"/feePayer", "", got)
	}
	return fee
}

// again makes the message once more from checked values; what gets signed is exactly what was checked. An older version
// of the format, a key that nothing uses and a right that nothing needs end here (TH-S1).
func (s *solanaPay) again() bool {
	m, err := solmsg.Compose(s.message.FeePayer(), s.message.Blockhash, s.builds...)
	same := err == nil && bytes.Equal(m.Bytes(), s.message.Bytes())
	if s.must(same, "S1", "the message is the one encoding of these instructions", s.path+"/dataToSign",
		"no other keys and no more rights than needed", "another encoding") {
		s.message = m
	}
	return same
}
