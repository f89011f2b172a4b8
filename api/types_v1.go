package api

// PrepareRequestV1 is the body of POST /quotes/prepare-call-quote. The account's type may be absent for a role-based
// account.
type PrepareRequestV1 struct {
	Account               Account                `json:"account"`
	TargetChain           string                 `json:"targetChain"`
	Calls                 []Call                 `json:"calls"`
	TokensRequired        []TokenRequirement     `json:"tokensRequired"`
	AllowanceRequirements []AllowanceRequirement `json:"allowanceRequirements,omitzero"`
	Overrides             []StateOverride        `json:"overrides,omitzero"`
	ValidAfter            string                 `json:"validAfter,omitzero"`
	ValidUntil            string                 `json:"validUntil,omitzero"`
	SlippageTolerance     int                    `json:"slippageTolerance,omitzero"`
}

// V1 is the request in its v1 form: for the first account, and without the asset that pays, which v1 takes with the
// quote.
func (r PrepareRequest) V1() PrepareRequestV1 {
	return PrepareRequestV1{
		Account: firstOf(r.Accounts), TargetChain: r.TargetChain, Calls: r.Calls, TokensRequired: r.TokensRequired,
		AllowanceRequirements: r.AllowanceRequirements, Overrides: r.Overrides, ValidAfter: r.ValidAfter,
		ValidUntil: r.ValidUntil, SlippageTolerance: r.SlippageTolerance,
	}
}

// firstOf is the account of a v1 body; the zero Account when there is none.
func firstOf(accounts []Account) Account {
	if len(accounts) == 0 {
		return Account{}
	}
	return accounts[0]
}

// PrepareResponseV1 is the answer of POST /quotes/prepare-call-quote.
type PrepareResponseV1 struct {
	Account              Account              `json:"account"`
	ChainOperation       ChainOperation       `json:"chainOperation"`
	TamperProofSignature string               `json:"tamperProofSignature"`
	CallType             string               `json:"callType"`
	SourceAssetBalances  []SourceAssetBalance `json:"sourceAssetBalances"`
}

// V1 is the answer in its v1 form: with the first account.
func (r PrepareResponse) V1() PrepareResponseV1 {
	return PrepareResponseV1{
		Account: firstOf(r.Accounts), ChainOperation: r.ChainOperation, TamperProofSignature: r.TamperProofSignature,
		CallType: r.CallType, SourceAssetBalances: r.SourceAssetBalances,
	}
}

// CallQuoteRequestV1 is the body of POST /quotes/call-quote.
type CallQuoteRequestV1 struct {
	Account               Account        `json:"account"`
	ChainOperation        ChainOperation `json:"chainOperation"`
	TamperProofSignature  string         `json:"tamperProofSignature"`
	FromAggregatedAssetID string         `json:"fromAggregatedAssetId,omitzero"`
	SlippageTolerance     int            `json:"slippageTolerance,omitzero"`
}

// QuoteV1 is the v1 quote. DestinationChainOperation is the prepared operation of a call that is funded, unsigned as in
// OriginChainsOperations; a call that pays for itself has it there and nowhere else, a swap or a transfer has none.
type QuoteV1 struct {
	ID                        string           `json:"id"`
	Account                   Account          `json:"account"`
	OriginChainsOperations    []ChainOperation `json:"originChainsOperations"`
	OriginToken               OriginToken      `json:"originToken"`
	DestinationToken          DestinationToken `json:"destinationToken"`
	ExpirationTimestamp       string           `json:"expirationTimestamp"`
	TamperProofSignature      string           `json:"tamperProofSignature"`
	DestinationChainOperation *ChainOperation  `json:"destinationChainOperation,omitzero"`
}

// V1 is the quote in its v1 form: with the first account, without fees and tolerances, and with the prepared operation
// of a call that is funded, nil for none.
func (q Quote) V1(prepared *ChainOperation) QuoteV1 {
	return QuoteV1{
		ID: q.ID, Account: firstOf(q.Accounts), OriginChainsOperations: q.OriginChainsOperations,
		OriginToken: q.OriginToken, DestinationToken: q.DestinationToken, ExpirationTimestamp: q.ExpirationTimestamp,
		TamperProofSignature: q.TamperProofSignature, DestinationChainOperation: prepared,
	}
}

// AssetRef names an aggregated asset or a CAIP-19 asset.
type AssetRef struct {
	AssetID string `json:"assetId"`
}

// QuoteFrom is the paying side of a swap or a transfer: Amount in the smallest unit of the named asset, exact input.
type QuoteFrom struct {
	Accounts []Account `json:"accounts"`
	Asset    AssetRef  `json:"asset"`
	Amount   string    `json:"amount"`
}

// QuoteFromV1 is QuoteFrom with one account.
type QuoteFromV1 struct {
	Account Account  `json:"account"`
	Asset   AssetRef `json:"asset"`
	Amount  string   `json:"amount"`
}

// QuoteTo is the receiving side: Account is CAIP-10, needed when both sides are the same asset.
type QuoteTo struct {
	Asset   AssetRef `json:"asset"`
	Account string   `json:"account,omitzero"`
}

// QuoteRequest is the body of POST /v3/quote: a swap, or a transfer when both sides are of one aggregated asset.
type QuoteRequest struct {
	From              QuoteFrom `json:"from"`
	To                QuoteTo   `json:"to"`
	SlippageTolerance int       `json:"slippageTolerance,omitzero"`
}

// QuoteRequestV1 is the body of POST /v1/quote.
type QuoteRequestV1 struct {
	From              QuoteFromV1 `json:"from"`
	To                QuoteTo     `json:"to"`
	SlippageTolerance int         `json:"slippageTolerance,omitzero"`
}

// V1 is the request in its v1 form: for the first account.
func (r QuoteRequest) V1() QuoteRequestV1 {
	return QuoteRequestV1{
		From: QuoteFromV1{firstOf(r.From.Accounts), r.From.Asset, r.From.Amount}, To: r.To,
		SlippageTolerance: r.SlippageTolerance,
	}
}

// Actions of an admin message (RoleBasedECDSAValidator).
const (
	AdminRotateSession = "rotate-session"
	AdminAnnounceExit  = "announce-exit"
	AdminCancelExit    = "cancel-exit"
	AdminOperate       = "operate"
)

// RelayRequest is the body of POST /account/relay, an addition of ours: what the admin of a role-based account signed,
// for the service to put on chain; anybody else could do the same. Account carries the keys that the account's address
// follows from, so that it can be deployed first. Nonce is the admin nonce, a decimal string, and Signature the admin's
// over the message, for all actions but operate. Operate carries UserOp, signed by the admin alone, which the chain
// takes from the end of an announced exit's delay.
type RelayRequest struct {
	Account    Account `json:"account"`
	Chain      string  `json:"chain"`
	Action     string  `json:"action"`
	NewSession string  `json:"newSession,omitzero"`
	Nonce      string  `json:"nonce,omitzero"`
	Signature  string  `json:"signature,omitzero"`
	UserOp     *UserOp `json:"userOp,omitzero"`
}

// RelayResponse names the transaction that carried the message.
type RelayResponse struct {
	OperationRef
}

// RolesResponse is the answer of GET /account/roles?account=<CAIP-10>, an addition of ours: the roles of a role-based
// account on one chain. Addresses are absent where the account is not deployed. AdminNonce is what the next admin
// message must carry and OperationNonce what an operation signed by the admin must, as decimal strings. ExitAvailableAt
// is in Unix seconds, 0 when no exit is announced.
type RolesResponse struct {
	Deployed        bool   `json:"deployed"`
	SessionAddress  string `json:"sessionAddress,omitzero"`
	AdminAddress    string `json:"adminAddress,omitzero"`
	CoSigner        string `json:"coSigner,omitzero"`
	AdminNonce      string `json:"adminNonce"`
	OperationNonce  string `json:"operationNonce"`
	ExitAvailableAt uint64 `json:"exitAvailableAt"`
}

// What is at an address of an EVM chain: nothing, an EIP-7702 delegation, or any other code.
const (
	CodeNone      = "none"
	CodeDelegated = "delegated"
	CodeContract  = "contract"
)

// CodeResponse is the answer of GET /account/code?account=<CAIP-10>,…, an addition of ours: what is at each address
// now, in the order that was asked.
type CodeResponse struct {
	Accounts []AccountCode `json:"accounts"`
}

// AccountCode is what is at one address. Delegate is the contract to which an EOA is delegated. Nonce is that of the
// account on its chain, a decimal string: what an EIP-7702 authorization of an EOA must carry.
type AccountCode struct {
	Account  string `json:"account"`
	Code     string `json:"code"`
	Delegate string `json:"delegate,omitzero"`
	Nonce    string `json:"nonce"`
}

// UndelegateRequest is the body of POST /account/undelegate, an addition of ours: an EOA's signed authorization of the
// zero address, which ends its EIP-7702 delegation on one chain, for the service to put on chain; anybody else could do
// the same. Account is the EOA.
type UndelegateRequest struct {
	Account       string              `json:"account"`
	Authorization DelegationSignature `json:"authorization"`
}

// UndelegateResponse names the transaction that ended the delegation; there is none where the account was not
// delegated.
type UndelegateResponse struct {
	Transaction *OperationRef `json:"transaction,omitzero"`
}

// Health is the answer of GET /healthz, an addition of ours: the service is open and works. A service whose clock went
// back, or that cannot write, answers 503 with the reason instead.
type Health struct {
	Status string `json:"status"`
}
