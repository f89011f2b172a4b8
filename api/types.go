package api

// Account types of the interface. Every account of a request has one of them.
const (
	AccountRoleBased = "role-based"
	AccountKernelV31 = "kernel-v3.1-ecdsa"
	AccountKernelV33 = "kernel-v3.3-ecdsa"
	AccountSolana    = "solana"
)

// Deployment types: ERC4337 belongs to kernel-v3.1-ecdsa, EIP7702 to kernel-v3.3-ecdsa.
const (
	DeploymentERC4337 = "ERC4337"
	DeploymentEIP7702 = "EIP7702"
)

// Call types: the routing that a prepared call needs (protocol §3.1).
const (
	CallSameChainExcludeSolver = "same_chain_exclude_solver"
	CallSameChainWithSolver    = "same_chain_with_solver"
	CallCrossChain             = "cross_chain_with_solver"
	CallCrossChainSwaps        = "cross_chain_with_solver_and_swaps"
)

// Statuses of a quote that was executed. The last three are terminal.
const (
	StatusPending    = "PENDING"
	StatusInProgress = "IN_PROGRESS"
	StatusExecuted   = "EXECUTED"
	StatusCompleted  = "COMPLETED"
	StatusRefunded   = "REFUNDED"
	StatusFailed     = "FAILED"
)

// Terminal reports whether a status can no longer change. Unknown statuses are not terminal (TH-H4).
func Terminal(status string) bool {
	return status == StatusCompleted || status == StatusRefunded || status == StatusFailed
}

// History record types.
const (
	RecordSwap     = "SWAP"
	RecordTransfer = "TRANSFER"
	RecordCall     = "CALL"
)

// Account is one of the four variants, told apart by Type. Addresses are 0x strings for EVM variants and base58 for
// solana.
type Account struct {
	Type           string `json:"type,omitzero"`
	SessionAddress string `json:"sessionAddress,omitzero"`
	AdminAddress   string `json:"adminAddress,omitzero"`
	SignerAddress  string `json:"signerAddress,omitzero"`
	AccountAddress string `json:"accountAddress"`
	DeploymentType string `json:"deploymentType,omitzero"`
}

// IsEVM reports whether the account lives on EVM chains.
func (a Account) IsEVM() bool { return a.Type != AccountSolana }

// Call is one EVM call that the user built. Value is decimal or 0x hex wei.
type Call struct {
	To    string `json:"to"`
	Data  string `json:"data,omitzero"`
	Value string `json:"value,omitzero"`
}

// AllowanceRequirement declares an approval for the time of the calls; Amount in base units, "0" revokes.
type AllowanceRequirement struct {
	AssetType string `json:"assetType"`
	Amount    string `json:"amount"`
	Spender   string `json:"spender,omitzero"`
}

// TokenRequirement declares what the calls spend on the target chain; Amount in base units.
type TokenRequirement struct {
	AssetType string `json:"assetType"`
	Amount    string `json:"amount"`
}

// StateOverride changes state for simulation only. Balance is 0x hex wei, Code 0x hex, StateDiff slot → value (32-byte
// hex).
type StateOverride struct {
	Address   string            `json:"address"`
	Balance   string            `json:"balance,omitzero"`
	Code      string            `json:"code,omitzero"`
	StateDiff map[string]string `json:"stateDiff,omitzero"`
}

// UserOp is an ERC-4337 v0.7 user operation on the wire. Gas values and the nonce are decimal strings, the rest 0x hex.
// Factory and paymaster members are absent when unused.
type UserOp struct {
	Sender                        string `json:"sender"`
	Nonce                         string `json:"nonce"`
	Factory                       string `json:"factory,omitzero"`
	FactoryData                   string `json:"factoryData,omitzero"`
	CallData                      string `json:"callData"`
	CallGasLimit                  string `json:"callGasLimit"`
	VerificationGasLimit          string `json:"verificationGasLimit"`
	PreVerificationGas            string `json:"preVerificationGas"`
	MaxFeePerGas                  string `json:"maxFeePerGas"`
	MaxPriorityFeePerGas          string `json:"maxPriorityFeePerGas"`
	Paymaster                     string `json:"paymaster,omitzero"`
	PaymasterVerificationGasLimit string `json:"paymasterVerificationGasLimit,omitzero"`
	PaymasterPostOpGasLimit       string `json:"paymasterPostOpGasLimit,omitzero"`
	PaymasterData                 string `json:"paymasterData,omitzero"`
	Signature                     string `json:"signature"`
}

// TypedDataField is one member of an EIP-712 struct type.
type TypedDataField struct {
	Name string `json:"name"`
	Type string `json:"type"`
}

// TypedDataDomain is the EIP-712 domain; ChainID is a JSON number.
type TypedDataDomain struct {
	Name              string `json:"name"`
	Version           string `json:"version"`
	ChainID           uint64 `json:"chainId"`
	VerifyingContract string `json:"verifyingContract"`
}

// TypedDataMessage is the Approve message: one 32-byte hash.
type TypedDataMessage struct {
	CallDataAndNonceHash string `json:"callDataAndNonceHash"`
}

// TypedData is the EIP-712 document that comes with each EVM operation. Only role-based accounts sign it.
type TypedData struct {
	Domain      TypedDataDomain             `json:"domain"`
	Types       map[string][]TypedDataField `json:"types"`
	PrimaryType string                      `json:"primaryType"`
	Message     TypedDataMessage            `json:"message"`
}

// DelegationSignature is a signed EIP-7702 authorization (protocol §8.3). V is "0x1b" or "0x1c".
type DelegationSignature struct {
	ChainID         uint64 `json:"chainId"`
	ContractAddress string `json:"contractAddress"`
	Nonce           uint64 `json:"nonce"`
	R               string `json:"r"`
	S               string `json:"s"`
	V               string `json:"v"`
	YParity         uint8  `json:"yParity"`
	Type            string `json:"type"`
}

// Delegation asks for an EIP-7702 authorization; Nonce is the account nonce of the EOA.
type Delegation struct {
	ContractAddress string               `json:"contractAddress"`
	Nonce           uint64               `json:"nonce"`
	Signature       *DelegationSignature `json:"signature,omitzero"`
}

// Unsigned is the delegation as it is asked for, nil of nil.
func (d *Delegation) Unsigned() *Delegation {
	if d == nil {
		return nil
	}
	return &Delegation{ContractAddress: d.ContractAddress, Nonce: d.Nonce}
}

// SolanaKey is one account of a Solana instruction.
type SolanaKey struct {
	Pubkey     string `json:"pubkey"`
	IsSigner   bool   `json:"isSigner"`
	IsWritable bool   `json:"isWritable"`
}

// SolanaInstruction is one instruction; Data is hex without 0x (protocol §3.4).
type SolanaInstruction struct {
	Keys      []SolanaKey `json:"keys"`
	ProgramID string      `json:"programId"`
	Data      string      `json:"data"`
}

// ChainOperation is what gets signed on one chain. EVM operations have UserOp and TypedDataToSign; Solana ones have
// Type "solana", Instructions and DataToSign (base64 of a message). Amount is in base units of AssetType.
type ChainOperation struct {
	Type                        string              `json:"type,omitzero"`
	UserOp                      *UserOp             `json:"userOp,omitzero"`
	TypedDataToSign             *TypedData          `json:"typedDataToSign,omitzero"`
	Delegation                  *Delegation         `json:"delegation,omitzero"`
	Instructions                []SolanaInstruction `json:"instructions,omitzero"`
	RecentBlockHash             string              `json:"recentBlockHash,omitzero"`
	FeePayer                    string              `json:"feePayer,omitzero"`
	AddressLookupTableAddresses []string            `json:"addressLookupTableAddresses,omitzero"`
	DataToSign                  string              `json:"dataToSign,omitzero"`
	Signature                   string              `json:"signature,omitzero"`
	AssetType                   string              `json:"assetType"`
	Amount                      string              `json:"amount"`
}

// IsSolana reports whether the operation is a Solana message.
func (o ChainOperation) IsSolana() bool { return o.Type == AccountSolana }

// SourceAssetBalance is one usable balance, in funding order. FiatValue is USD.
type SourceAssetBalance struct {
	AssetType string `json:"assetType"`
	Balance   string `json:"balance"`
	Decimals  int    `json:"decimals"`
	FiatValue Number `json:"fiatValue"`
}

// PrepareRequest is the body of POST /v3/quote/prepare-call-quote.
type PrepareRequest struct {
	Accounts              []Account              `json:"accounts"`
	TargetChain           string                 `json:"targetChain"`
	Calls                 []Call                 `json:"calls"`
	TokensRequired        []TokenRequirement     `json:"tokensRequired,omitzero"`
	AllowanceRequirements []AllowanceRequirement `json:"allowanceRequirements,omitzero"`
	Overrides             []StateOverride        `json:"overrides,omitzero"`
	ValidAfter            string                 `json:"validAfter,omitzero"`
	ValidUntil            string                 `json:"validUntil,omitzero"`
	FromAssetID           string                 `json:"fromAssetId,omitzero"`
	SlippageTolerance     int                    `json:"slippageTolerance,omitzero"`
}

// PrepareResponse is the answer of POST /v3/quote/prepare-call-quote.
type PrepareResponse struct {
	Accounts             []Account            `json:"accounts"`
	ChainOperation       ChainOperation       `json:"chainOperation"`
	TamperProofSignature string               `json:"tamperProofSignature"`
	CallType             string               `json:"callType"`
	SourceAssetBalances  []SourceAssetBalance `json:"sourceAssetBalances"`
}

// CallQuoteRequest is the body of POST /v3/quote/call-quote. FromAssetID takes a CAIP-19 asset (protocol §7).
type CallQuoteRequest struct {
	Accounts              []Account      `json:"accounts"`
	ChainOperation        ChainOperation `json:"chainOperation"`
	TamperProofSignature  string         `json:"tamperProofSignature"`
	FromAggregatedAssetID string         `json:"fromAggregatedAssetId,omitzero"`
	FromAssetID           string         `json:"fromAssetId,omitzero"`
	SlippageTolerance     int            `json:"slippageTolerance,omitzero"`
}

// TokenFiat is the USD value of one origin entity; strings with two decimals.
type TokenFiat struct {
	AssetType string `json:"assetType"`
	Amount    string `json:"amount,omitzero"`
	FiatValue string `json:"fiatValue"`
}

// OriginToken is what the user pays: Amount in the aggregate's decimals (protocol §3.5).
type OriginToken struct {
	AggregatedAssetID string      `json:"aggregatedAssetId"`
	Amount            string      `json:"amount"`
	AssetType         []string    `json:"assetType"`
	FiatValue         []TokenFiat `json:"fiatValue"`
}

// DestinationToken is what is delivered on the target chain, in base units of AssetType. RecipientAccount is
// `<chain>:<address>`.
type DestinationToken struct {
	AggregatedAssetID string `json:"aggregatedAssetId"`
	Amount            string `json:"amount"`
	AssetType         string `json:"assetType"`
	FiatValue         string `json:"fiatValue"`
	MinimumAmount     string `json:"minimumAmount,omitzero"`
	MinimumFiatValue  string `json:"minimumFiatValue,omitzero"`
	Symbol            string `json:"symbol,omitzero"`
	Name              string `json:"name,omitzero"`
	Decimals          *int   `json:"decimals,omitzero"`
	RecipientAccount  string `json:"recipientAccount,omitzero"`
}

// SlippageSide is a tolerance: Percent and USD are decimal strings, Value is in base units.
type SlippageSide struct {
	Percent string `json:"percent"`
	USD     string `json:"usd"`
	Value   string `json:"value"`
}

// Slippage holds the tolerances of both sides of a quote.
type Slippage struct {
	Origin      SlippageSide `json:"origin"`
	Destination SlippageSide `json:"destination"`
}

// Fees maps asset type → fee in base units; CumulativeUSD is a decimal string.
type Fees struct {
	Assets        map[string]string `json:"assets"`
	CumulativeUSD string            `json:"cumulativeUSD"`
}

// Quote is the v3 quote: the priced offer whose operations get signed and sent to execute.
type Quote struct {
	ID                     string           `json:"id"`
	Accounts               []Account        `json:"accounts"`
	OriginChainsOperations []ChainOperation `json:"originChainsOperations"`
	OriginToken            OriginToken      `json:"originToken"`
	DestinationToken       DestinationToken `json:"destinationToken"`
	ExpirationTimestamp    string           `json:"expirationTimestamp"`
	TamperProofSignature   string           `json:"tamperProofSignature"`
	Slippage               *Slippage        `json:"slippage,omitzero"`
	Fees                   *Fees            `json:"fees,omitzero"`
}

// ExecuteResponse is the answer of POST /v3/quote/execute-quote (protocol §5.1). 200 means accepted, never done
// (TH-X2).
type ExecuteResponse struct {
	Success    bool    `json:"success"`
	Guarantees any     `json:"guarantees"`
	Error      *string `json:"error"`
}

// PredictRequest is the body of POST /account/predict-address: sessionAddress and adminAddress, or type and
// signerAddress.
type PredictRequest struct {
	Type           string `json:"type,omitzero"`
	SessionAddress string `json:"sessionAddress,omitzero"`
	AdminAddress   string `json:"adminAddress,omitzero"`
	SignerAddress  string `json:"signerAddress,omitzero"`
}

// PredictResponse carries the counterfactual address in EIP-55 form.
type PredictResponse struct {
	PredictedAddress string `json:"predictedAddress"`
}

// ChainRef is a chain in its CAIP-2 parts.
type ChainRef struct {
	Chain     string `json:"chain"`
	Namespace string `json:"namespace"`
	Reference string `json:"reference"`
}

// SupportedChain is one element of GET /chains/supported-list.
type SupportedChain struct {
	Chain     ChainRef `json:"chain"`
	IsTestnet bool     `json:"isTestnet"`
}

// AggregatedEntity is one chain's token of an aggregated asset.
type AggregatedEntity struct {
	AssetType string `json:"assetType"`
	Decimals  int    `json:"decimals"`
	Name      string `json:"name"`
	Symbol    string `json:"symbol"`
}

// AggregatedAsset is one element of GET /assets/list.
type AggregatedAsset struct {
	AggregatedAssetID  string             `json:"aggregatedAssetId"`
	Symbol             string             `json:"symbol"`
	Name               string             `json:"name"`
	Decimals           int                `json:"decimals"`
	AggregatedEntities []AggregatedEntity `json:"aggregatedEntities"`
}

// AssetBalance is the balance of one chain's token; FiatValue is USD and absent when there is no price. Decimals and
// Symbol are there for tokens outside the list of assets: what the token says of itself.
type AssetBalance struct {
	AssetType string `json:"assetType"`
	Balance   string `json:"balance"`
	FiatValue Number `json:"fiatValue"`
	Decimals  *int   `json:"decimals,omitzero"`
	Symbol    string `json:"symbol,omitzero"`
}

// AggregateBalance sums one aggregated asset over its chains, Balance in the aggregate's decimals.
type AggregateBalance struct {
	AggregatedAssetID       string         `json:"aggregatedAssetId"`
	Balance                 string         `json:"balance"`
	IndividualAssetBalances []AssetBalance `json:"individualAssetBalances"`
	FiatValue               Number         `json:"fiatValue"`
}

// TotalBalance is the USD value of everything priced.
type TotalBalance struct {
	FiatValue Number `json:"fiatValue"`
}

// BalanceAccounts echoes the parsed addresses by chain type.
type BalanceAccounts struct {
	EVM    string `json:"evm,omitzero"`
	Solana string `json:"solana,omitzero"`
}

// AggregatedBalance is the answer of GET /v3/balances/aggregated-balance.
type AggregatedBalance struct {
	Accounts                 *BalanceAccounts   `json:"accounts,omitzero"`
	BalanceByAggregatedAsset []AggregateBalance `json:"balanceByAggregatedAsset"`
	BalanceBySpecificAsset   []AssetBalance     `json:"balanceBySpecificAsset"`
	TotalBalance             TotalBalance       `json:"totalBalance"`
	Unreachable              []UnreachableChain `json:"unreachable,omitzero"`
}

// UnreachableChain is a chain on own nodes that could not be asked, with the reason in words: the balances there are
// unknown, are on no line and in no sum.
type UnreachableChain struct {
	Chain   string `json:"chain"`
	Message string `json:"message"`
}

// OperationRef names a transaction on a chain: a 0x hash, or a base58 signature on Solana. ChainID is only there in v1
// answers, for EVM chains.
type OperationRef struct {
	Hash        string `json:"hash"`
	ChainID     uint64 `json:"chainId,omitzero"`
	Chain       string `json:"chain"`
	ExplorerURL string `json:"explorerUrl"`
}

// ExecutionStatus is the answer of GET /v3/status/get-execution-status; every member is empty for an unknown quote id.
type ExecutionStatus struct {
	QuoteID            string `json:"quoteId,omitzero"`
	Status             string `json:"status,omitzero"`
	User               string `json:"user,omitzero"`
	RecipientAccountID string `json:"recipientAccountId,omitzero"`
	// an empty list is written, nil is not
	OriginChainOperations      []OperationRef `json:"originChainOperations,omitzero"`
	DestinationChainOperations []OperationRef `json:"destinationChainOperations,omitempty"`
	FailReason                 string         `json:"failReason,omitzero"`
}

// HistoryRecord is one line of GET /v3/status/get-tx-history. Timestamp is ISO 8601.
type HistoryRecord struct {
	QuoteID                    string           `json:"quoteId"`
	Status                     string           `json:"status"`
	User                       string           `json:"user"`
	RecipientAccountID         string           `json:"recipientAccountId"`
	OriginChainOperations      []OperationRef   `json:"originChainOperations"`
	DestinationChainOperations []OperationRef   `json:"destinationChainOperations"`
	Type                       string           `json:"type"`
	OriginToken                OriginToken      `json:"originToken"`
	DestinationToken           DestinationToken `json:"destinationToken"`
	Timestamp                  string           `json:"timestamp"`
	FailReason                 string           `json:"failReason,omitzero"`
}

// HistoryPage is a page of history; Continuation is empty at the end. Damaged, an addition of ours, names what belongs
// to the page and is left out because the service cannot read it any more: a quote id, or an entry of an index.
type HistoryPage struct {
	Transactions []HistoryRecord `json:"transactions"`
	Continuation string          `json:"continuation,omitzero"`
	Damaged      []string        `json:"damaged,omitzero"`
}
