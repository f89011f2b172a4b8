package verify

import (
	"math/big"
	"time"

	"coffer/api"
	"coffer/api/caip"
	"coffer/api/op/solmsg"
	"coffer/wallet/intent"
)

// Figures of a transfer on Solana that pays its recipient itself. Its block hash is taken for 150 block heights, which
// is a minute of the chain; the wallet counts it as open for four, in case the chain is slow. What a token account
// needs to exist follows from its 165 bytes.
const (
	ownHashLife      = 4 * time.Minute
	rentTokenAccount = 2_039_280 // lamports
)

// sendsItself reports whether the intent is a transfer that the user's own message makes: on Solana, on own nodes,
// where there is no solver and no vault.
func (j *judge) sendsItself() bool {
	d := j.in.Draft()
	if !j.Network.OnOwnNodes() || j.in.Kind() != intent.KindTransfer || d.Receive == nil {
		return false
	}
	to, err := caip.ParseAccount(d.Receive.Account)
	_, has := j.in.SolanaAccount()
	return err == nil && to.Chain.IsSolana() && has
}

// recipientItself takes the recipient from the intent in the place of the vault, and the user in that of the sponsor.
func (s *solanaPay) recipientItself(errUser error) bool {
	to, err := caip.ParseAccount(s.in.Draft().Receive.Account)
	key, solana := to.SolanaKey()
	s.itself, s.sponsor, s.vault = true, s.user, solmsg.Key(key)
	return s.must(errUser == nil && err == nil && solana && s.vault != s.user, "S11",
		"the recipient is another account than your own", s.path, "another account", to.Address)
}

// words are what the checks of a payment say: of one into the vault, or of one that its recipient gets.
func (s *solanaPay) words(vault, itself string) string {
	if s.itself {
		return itself
	}
	return vault
}

// onTop is what the user pays beside the amount, in lamports: Solana's fee, and the rent of a token account that the
// message opens for the recipient.
func (s *solanaPay) onTop(fee *big.Int) *big.Int {
	if !s.itself || !s.opened || fee == nil {
		return fee
	}
	return new(big.Int).Add(fee, big.NewInt(rentTokenAccount))
}

// ownSend shows the costs of a transfer that pays its recipient itself; nil of another payment.
func (s *solanaPay) ownSend(fee *big.Int) *OwnSendView {
	if !s.itself || fee == nil {
		return nil
	}
	v := &OwnSendView{Fee: s.amountView(caip.SOL(), fee)}
	if s.opened {
		rent := s.amountView(caip.SOL(), big.NewInt(rentTokenAccount))
		v.Rent = &rent
	}
	return v
}

// until is when the message can land no more, in Unix seconds.
func (s *solanaPay) until(expires int64) int64 {
	life := blockHashLife
	if s.itself {
		life = ownHashLife
	}
	return max(expires, s.now.Add(life).Unix())
}

// oneMessage demands that such a transfer is one Solana message and nothing else (TH-Q3).
func (j *judge) oneMessage(w api.Quote) bool {
	one := len(w.OriginChainsOperations) == 1 && w.OriginChainsOperations[0].IsSolana()
	return !j.sendsItself() || j.must(one, "Q3", "a transfer on Solana is one message", "/originChainsOperations",
		"one message", plural(len(w.OriginChainsOperations), "operation"))
}

// sentItself checks the quote of a transfer that pays its recipient itself: one message, which brings all that is paid,
// and no fee of anybody but Solana's own (TH-Q5, Q11).
func (j *judge) sentItself(w api.Quote, legs []leg, q *VerifiedQuote) {
	if !j.sendsItself() {
		return
	}
	free := w.Fees != nil
	if free {
		for _, v := range w.Fees.Assets {
			free = free && v == "0"
		}
	}
	j.must(free, "Q11", "only Solana takes a fee", "/fees", "no fees", "fees")
	j.must(q.view.Minimum.Amount != nil && q.view.Delivered.Amount.Cmp(q.view.Minimum.Amount) == 0 &&
		q.view.Delivered.Amount.Cmp(legs[0].amount) == 0, "Q8", "exactly what is sent arrives",
		"/destinationToken/amount", legs[0].amount.String(), w.DestinationToken.Amount)
	if j.refused() {
		return
	}
	own := legs[0].solana.Own
	costs := new(big.Int).Set(own.Fee.Amount)
	if own.Rent != nil {
		costs.Add(costs, own.Rent.Amount)
	}
	q.view.Fees = []AmountView{j.amountView(caip.SOL(), costs)}
	q.view.FeesMicro = Sum(q.view.Fees)
	q.view.CallTypeWords = "The message below is signed now. It sends exactly this amount to the recipient, once or " +
		"not at all; your account pays Solana's fee. Your nodes try the signed message before it goes out; that is " +
		"no promise that it lands."
}
