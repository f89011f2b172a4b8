package journal

import "time"

// State is the state that a record puts its operation in.
type State string

// The states in the order of an operation that runs through.
const (
	Intent      State = "INTENT"
	Prepared    State = "PREPARED"
	Signed      State = "SIGNED"
	Quoted      State = "QUOTED"
	QuoteSigned State = "QUOTE_SIGNED"
	Executing   State = "EXECUTING"
	Acked       State = "ACKED"
	Done        State = "DONE"
	NotExecuted State = "NOT_EXECUTED"
	Abandoned   State = "ABANDONED"
)

// Voided is the type of a record that leaves its operation in the state it had, an ended one too: a person said that a
// signature which no time ends is dead.
const Voided State = "VOID"

// Seen is the type of a record that leaves its operation in the state it had, an ended one too: the person's own nodes
// saw in a final block that the nonces of signatures, or of the authorizations beside them, are used.
const Seen State = "SEEN"

// Repaired is the type of a record that belongs to no operation: a person said at which sequence a lane of an account
// goes on.
const Repaired State = "REPAIR"

// Adopted is the type of a record about the file itself: a person went on with a journal that is older than what was
// signed (Adopt).
const Adopted State = "ADOPTED"

// Moved is the type of a record about the file itself: from here on the journal is that of another network, which took
// the place of the one before (Follow).
const Moved State = "MOVED"

// states lists the states by their record type, which is the index plus one.
func states() []State {
	return []State{Intent, Prepared, Signed, Quoted, QuoteSigned, Executing, Acked, Done, NotExecuted, Abandoned,
		Voided, Repaired, Seen}
}

// Terminal reports whether no record may follow but VOID and SEEN.
func (s State) Terminal() bool { return s == Done || s == NotExecuted || s == Abandoned }

// follows reports whether a record of state next may come after s; "" is the state of an operation that does not exist
// yet.
func (s State) follows(next State) bool {
	switch next {
	case Intent:
		return s == ""
	case Prepared:
		return s == Intent || s == Prepared || s == Signed || s == Quoted || s == QuoteSigned
	case Signed:
		return s == Prepared
	case Quoted: // from INTENT for a swap or a transfer, which has nothing to prepare
		return s == Intent || s == Signed || s == Quoted || s == QuoteSigned
	case QuoteSigned: // from EXECUTING when the service refused, or the request never left
		return s == Quoted || s == QuoteSigned || s == Executing
	case Executing:
		return s == QuoteSigned
	case Acked:
		return s == Executing
	case Done, NotExecuted:
		return s == Executing || s == Acked
	case Abandoned:
		return s != "" && s != Executing && s != Acked && !s.Terminal()
	case Voided, Seen:
		return s != ""
	}
	return false
}

// Entry is the payload of a record. Op and At are set by the journal. Documents are the bytes as received or sent.
// Confirmed and Summary say what a person agreed to: the confirmation as it was given and the decoded content in plain
// words (TH-V6).
type Entry struct {
	Op         string      `json:"op"`
	At         time.Time   `json:"at"`
	Intent     []byte      `json:"intent,omitempty"`     // INTENT: its JSON form
	IntentHash string      `json:"intentHash,omitzero"`  // INTENT: 64 hex digits
	Document   []byte      `json:"document,omitempty"`   // PREPARED, QUOTED: the answer
	AnswerHash string      `json:"answerHash,omitzero"`  // in its place once the operation has ended: its SHA-256, hex
	Signatures []Signature `json:"signatures,omitempty"` // SIGNED, QUOTE_SIGNED
	Recipients []string    `json:"recipients,omitempty"` // SIGNED, QUOTE_SIGNED: addresses that are paid
	Confirmed  string      `json:"confirmed,omitzero"`   // SIGNED, QUOTE_SIGNED: the confirmation
	Summary    []string    `json:"summary,omitempty"`    // SIGNED, QUOTE_SIGNED: what was agreed to
	QuoteID    string      `json:"quoteId,omitzero"`     // QUOTED and later
	Expires    int64       `json:"expires,omitzero"`     // QUOTED: Unix seconds
	// QUOTED: Unix seconds; from then on anyone may trigger the refund of its payments
	RefundFrom int64    `json:"refundFrom,omitzero"`
	BodyHash   string   `json:"bodyHash,omitzero"` // EXECUTING: SHA-256 of the body, hex
	Outcome    string   `json:"outcome,omitzero"`  // DONE: the final status
	Used       []string `json:"used,omitempty"`    // DONE, SEEN: hashes of the operations whose nonces are used
	Block      uint64   `json:"block,omitzero"`    // SEEN: the number of the final block
	Void       string   `json:"void,omitzero"`     // VOID: the hash of the operation whose signature is void
	Lane       *Lane    `json:"lane,omitzero"`     // REPAIR: where the lane goes on
	Note       string   `json:"note,omitzero"`     // plain words: why
	Terms      *Terms   `json:"terms,omitzero"`    // QUOTE_SIGNED: who gets what and what it costs
	Network    string   `json:"network,omitzero"`  // MOVED: the id of the network from here on
}

// Spend is one amount that a signed operation can move, in base units; Asset is CAIP-19.
type Spend struct {
	Asset  string `json:"asset"`
	Amount string `json:"amount"`
}

// Signature describes a signature that was made. Kind is the account's type ("" in records from before it was written:
// a kernel account). Digest is what was signed, OpHash what identifies the operation. An EVM operation has a Lane, a
// full Nonce in decimal and ValidUntil, the end of its window in Unix seconds (verify.NoEnd: none); a Solana message
// has ChainID 0, no nonce, the BlockHash with which it dies (base58), and in ValidUntil a time by which that has
// certainly happened. Delegation is the EIP-7702 authorization that was signed beside the operation. Spend is what can
// leave the account, Counts what of it counts against the caps of the policy, so that a call and what pays for it are
// not counted twice; records without a Kind count all of Spend.
//
// Said is what the service said became of it, where its word proves nothing. Made and Sent are read from the records
// around it: when it was made last, and whether it may have left this machine. VoidedAt is when a person said that it
// is dead (zero: never), VoidNote why. Past is true for one that was made on a network before this one: it takes no
// place here.
type Signature struct {
	Role       string      `json:"role"`
	Kind       string      `json:"kind,omitzero"`
	Chain      string      `json:"chain"` // CAIP-2
	ChainID    uint64      `json:"chainId"`
	Sender     string      `json:"sender"` // 0x address or base58
	Lane       uint16      `json:"lane"`
	Nonce      string      `json:"nonce"`
	BlockHash  string      `json:"blockHash,omitzero"`
	OpHash     string      `json:"opHash"`
	Digest     string      `json:"digest"`
	Signature  string      `json:"signature"`
	Delegation *Delegation `json:"delegation,omitzero"`
	Spend      []Spend     `json:"spend,omitempty"`
	Counts     []Spend     `json:"counts,omitempty"`
	ValidUntil int64       `json:"validUntil"`
	QuoteID    string      `json:"quoteId,omitzero"`
	Made       time.Time   `json:"-"`
	Sent       bool        `json:"-"`
	Said       Word        `json:"-"`
	VoidedAt   time.Time   `json:"-"`
	VoidNote   string      `json:"-"`
	Past       bool        `json:"-"`
	era        int         // how often the journal had moved when it was made
}

// Delegation is a signed EIP-7702 authorization of the operation's sender: the code at Contract controls the EOA on the
// chain from the transaction on that takes account nonce Nonce. Digest is what was signed, Signature is 65 bytes r‖s‖v
// with v 27 or 28, both 0x hex.
type Delegation struct {
	ChainID   uint64 `json:"chainId"`
	Contract  string `json:"contract"`
	Nonce     uint64 `json:"nonce"`
	Digest    string `json:"digest"`
	Signature string `json:"signature"`
}
