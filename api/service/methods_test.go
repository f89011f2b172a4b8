package service_test

import (
	"context"
	"crypto/ed25519"
	"encoding/base64"
	"encoding/json"
	"errors"
	"maps"
	"math/big"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/common/hexutil"
	"github.com/ethereum/go-ethereum/core/types"
	"github.com/ethereum/go-ethereum/crypto"

	"coffer/api"
	"coffer/api/op"
	"coffer/api/op/solmsg"
	"coffer/api/service"
	"coffer/api/service/bundler"
	"coffer/api/service/devclock"
	"coffer/api/service/foreign"
	"coffer/api/service/jsonrpc"
	"coffer/api/service/quote/smartaccount"
	"coffer/api/service/store/storetest"
)

// paramsOf are parameters that each method takes. A method that an endpoint has and this table has not fails
// TestEveryMethodTakesItsSeeds; FuzzMethods begins with all of them. What is in capitals is put in by newEndpoints.
var paramsOf = func() map[string][]string {
	all := map[string][]string{
		"debug_traceCall": {`[CALL,"latest",{"tracer":"callTracer"}]`,
			`[CALL,"latest",{"tracer":"prestateTracer","stateOverrides":{"ACCOUNT":{"code":"0x5b5f56"}}}]`},
		"debug_traceTransaction": {`["TX",{"tracer":"callTracer","tracerConfig":{"withLog":true}}]`,
			`["TX",{"tracer":"prestateTracer","tracerConfig":{"diffMode":true}}]`, `["TX",{"limit":9}]`},
		"debug_traceBlockByHash": {`["BLOCK",{"tracer":"callTracer"}]`}, "debug_traceBlockByNumber": {`["latest",{}]`},
		"eth_call":         {`[CALL,"latest",{"ACCOUNT":{"balance":"0x1"}},{"time":"0xffffffff"}]`},
		"eth_estimateGas":  {`[CALL]`},
		"eth_feeHistory":   {`["0x5","latest",[10,50.5]]`},
		"eth_getLogs":      {`[FILTER]`},
		"eth_newFilter":    {`[FILTER]`},
		"eth_simulateV1":   {`[{"blockStateCalls":[{"calls":[CALL]}],"traceTransfers":true},"latest"]`},
		"eth_getStorageAt": {`["ACCOUNT","0x0","latest"]`}, "eth_getProof": {`["ACCOUNT",["0x0"],"latest"]`},
		"eth_createAccessList": {`[CALL,"latest"]`}, "eth_fillTransaction": {`[CALL]`},
		"eth_sendRawTransaction": {`["RAW"]`, `["0x02f86e"]`}, "eth_sendRawTransactionSync": {`["RAW",5]`},
		"eth_sendTransaction":   {`[{"from":"ACCOUNT","to":"ACCOUNT","value":"0x1"}]`},
		"eth_sendUserOperation": {`[OPERATION,"POINT"]`}, "eth_estimateUserOperationGas": {`[OPERATION,"POINT"]`},
		"eth_subscribe": {`["newHeads"]`, `["logs",FILTER]`, `["newPendingTransactions",true]`},
		"web3_sha3":     {`["0x00"]`}, "txpool_contentFrom": {`["ACCOUNT"]`},

		"anvil_autoImpersonateAccount": {`[false]`}, "anvil_revert": {`["0x0"]`}, "evm_revert": {`["0x0"]`},
		"evm_mine": {`[]`, `[1900000000]`},

		"getSignatureStatuses": {`[["SIGNATURE"],{"searchTransactionHistory":true}]`},
		"getTransaction":       {`["SIGNATURE",{"encoding":"jsonParsed","maxSupportedTransactionVersion":0}]`},
		"signatureSubscribe":   {`["SIGNATURE",{"enableReceivedNotification":true}]`},
		"getAccountInfo":       {`["WALLET",{"encoding":"base64","dataSlice":{"offset":0,"length":9}}]`},
		"getMultipleAccounts":  {`[["WALLET"],{"encoding":"jsonParsed"}]`},
		"getTokenAccountsByOwner": {
			`["WALLET",{"programId":"TokenkegQfeZyiNwAJbNbGKPFXCWuBvf9Ss623VQ5DA"},{"encoding":"jsonParsed"}]`},
		"getTokenAccountBalance": {`["PURSE"]`}, "getTokenSupply": {`["MINT"]`}, "getBlockTime": {`[1]`},
		"getFeeForMessage": {`["MESSAGE"]`}, "isBlockhashValid": {`["RECENT",{"minContextSlot":1}]`},
		"getMinimumBalanceForRentExemption": {`[165]`}, "requestAirdrop": {`["WALLET",1000000]`},
		"getRecentPrioritizationFees": {`[["WALLET"]]`}, "logsSubscribe": {`[{"mentions":["WALLET"]}]`, `["all"]`},
		"sendTransaction": {`["WIRE",{"encoding":"base64"}]`,
			`["WIRE",{"encoding":"base64","skipPreflight":true}]`},
		"simulateTransaction": {`["WIRE",{"encoding":"base64","sigVerify":true,"innerInstructions":true}]`},
	}
	for params, names := range map[string]string{
		`[]`: `anvil_snapshot eth_accounts eth_blobBaseFee eth_blockNumber eth_chainId eth_gasPrice eth_syncing
			eth_maxPriorityFeePerGas eth_newBlockFilter eth_newPendingTransactionFilter eth_supportedEntryPoints
			evm_snapshot net_listening net_peerCount net_version pimlico_getUserOperationGasPrice rpc_modules
			txpool_content txpool_inspect txpool_status web3_clientVersion getBlockHeight getEpochInfo getEpochSchedule
			getFirstAvailableBlock getGenesisHash getHealth getLatestBlockhash getSlot getSupply getTransactionCount
			getVersion slotSubscribe`,
		`["0x1"]`: `eth_getFilterChanges eth_getFilterLogs eth_uninstallFilter eth_unsubscribe evm_increaseTime
			anvil_increaseTime anvil_mine hardhat_mine`,
		`["0x713fb300"]`: `evm_setNextBlockTimestamp evm_setTime anvil_setNextBlockTimestamp anvil_setTime`,
		`[1]`:            `accountUnsubscribe logsUnsubscribe signatureUnsubscribe slotUnsubscribe`,
		`["ACCOUNT"]`: `anvil_impersonateAccount anvil_stopImpersonatingAccount hardhat_impersonateAccount
			hardhat_stopImpersonatingAccount`,
		`["ACCOUNT","0xffffffffffff"]`:                            `anvil_setBalance hardhat_setBalance`,
		`["0x00000000000000000000000000000000000000b7","0x9"]`:    `anvil_setNonce hardhat_setNonce`,
		`["0x00000000000000000000000000000000000000b7","0x5b00"]`: `anvil_setCode hardhat_setCode`,
		`["0x00000000000000000000000000000000000000b7","0x0","0x` + strings.Repeat("01", 32) + `"]`: `anvil_setStorageAt
			hardhat_setStorageAt`,
		`["latest"]`: `debug_getRawBlock debug_getRawHeader debug_getRawReceipts eth_getBlockReceipts
			eth_getBlockTransactionCountByNumber eth_getHeaderByNumber eth_getUncleCountByBlockNumber`,
		`["ACCOUNT","latest"]`: `eth_getAccountInfo eth_getBalance eth_getCode eth_getTransactionCount`,
		`["TX"]`: `debug_getRawTransaction eth_getRawTransactionByHash eth_getTransactionByHash
			eth_getTransactionReceipt eth_getUserOperationByHash eth_getUserOperationReceipt
			pimlico_getUserOperationStatus`,
		`["BLOCK"]`:      `eth_getBlockTransactionCountByHash eth_getHeaderByHash eth_getUncleCountByBlockHash`,
		`["BLOCK",true]`: `eth_getBlockByHash`, `["0x1",true]`: `eth_getBlockByNumber`,
		`["BLOCK","0x0"]`: `eth_getRawTransactionByBlockHashAndIndex eth_getTransactionByBlockHashAndIndex
			eth_getUncleByBlockHashAndIndex`,
		`["latest","0x0"]`: `eth_getRawTransactionByBlockNumberAndIndex eth_getTransactionByBlockNumberAndIndex
			eth_getUncleByBlockNumberAndIndex`,
		`["WALLET"]`: `accountSubscribe getBalance getSignaturesForAddress`,
	} {
		for _, name := range strings.Fields(names) {
			all[name] = append(all[name], params)
		}
	}
	return all
}()

// endpoints are the methods of Base and of Solana on a development network.
type endpoints struct {
	s       *service.Service
	methods jsonrpc.Methods
	put     *strings.Replacer
}

func newEndpoints(t testing.TB) *endpoints {
	t.Helper()
	so := options(storetest.New(t))
	clock := devclock.New(so.Clock)
	so.Fund, so.Clock = true, clock.Now
	s := open(t, so)
	pins := s.Network().Pins
	secret, err := crypto.ToECDSA(crypto.Keccak256([]byte("a caller of every method")))
	if err != nil {
		t.Fatal(err)
	}
	user := foreign.New(pins, api.AccountKernelV31+foreign.WithSolana, foreign.Keys{Signer: secret,
		Solana: ed25519.NewKeyFromSeed(crypto.Keccak256([]byte("a caller of every method")))})
	eoa := crypto.PubkeyToAddress(secret.PublicKey)
	e := &endpoints{s: s, methods: jsonrpc.Methods{}}
	evm, solana := service.Endpoints(t, s, 8453, service.NodesOptions{
		Dev: &service.Dev{Clock: clock, Accounts: []common.Address{eoa}}})
	maps.Copy(e.methods, evm)
	maps.Copy(e.methods, solana)
	if err := s.Endow(t.Context(), []common.Address{eoa, user.Address}, true, []solmsg.Key{user.Wallet}); err != nil {
		t.Fatal(err)
	}
	// ask calls a method for the words below.
	ask := func(into any, name, params string) {
		t.Helper()
		v, err := e.call(t.Context(), name, params)
		raw, wrong := json.Marshal(v)
		if err = errors.Join(err, wrong); err == nil {
			err = json.Unmarshal(raw, into)
		}
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
	}
	var block struct {
		Hash         common.Hash
		Transactions []common.Hash
	}
	ask(&block, "eth_getBlockByNumber", `["latest",false]`)
	tx, err := types.SignNewTx(secret, types.LatestSignerForChainID(big.NewInt(8453)), &types.DynamicFeeTx{To: &eoa,
		Gas: 21_000, GasFeeCap: big.NewInt(4e9), GasTipCap: big.NewInt(1e9)})
	if err != nil {
		t.Fatal(err)
	}
	raw, err := tx.MarshalBinary()
	if err != nil {
		t.Fatal(err)
	}
	var recent struct{ Value struct{ Blockhash string } }
	ask(&recent, "getLatestBlockhash", `[]`)
	hash, err := solmsg.ParseKey(recent.Value.Blockhash)
	if err != nil {
		t.Fatal(err)
	}
	m, err := solmsg.Compose(user.Wallet, hash, solmsg.SystemTransfer(user.Wallet, solmsg.Key{9}, 1e9))
	if err != nil {
		t.Fatal(err)
	}
	wire := slices.Concat([]byte{1}, ed25519.Sign(user.Solana, m.Bytes()), m.Bytes())
	var sent, drop string
	ask(&drop, "requestAirdrop", `["`+user.Wallet.String()+`",5]`)
	ask(&sent, "sendTransaction", `["`+base64.StdEncoding.EncodeToString(wire)+`",{"encoding":"base64"}]`)
	mint, err := solmsg.ParseKey("EPjFWdd5AufqSSqeM2qN1xzybapC8G4wEGGkZwyTDt1v")
	purse, wrong := solmsg.AssociatedTokenAccount(user.Wallet, mint, solmsg.TokenProgram())
	if err = errors.Join(err, wrong); err != nil {
		t.Fatal(err)
	}
	at := eoa.Hex()
	e.put = strings.NewReplacer(
		"CALL", `{"from":"`+at+`","to":"`+pins.EntryPoint.Hex()+`","data":"0x70a08231`+strings.Repeat("0", 64)+`"}`,
		"FILTER", `{"fromBlock":"0x0","toBlock":"latest","address":["`+pins.EntryPoint.Hex()+`"],"topics":[null,["`+
			block.Hash.Hex()+`",null]]}`,
		"OPERATION", operationOf(t, s, user), "POINT", pins.EntryPoint.Hex(), "ACCOUNT", at, "BLOCK", block.Hash.Hex(),
		"TX", block.Transactions[0].Hex(), "RAW", hexutil.Encode(raw), "SIGNATURE", sent, "WALLET",
		user.Wallet.String(), "PURSE", purse.String(), "MINT", mint.String(), "MESSAGE", m.Base64(), "RECENT",
		hash.String(), "WIRE", base64.StdEncoding.EncodeToString(wire))
	return e
}

// operationOf is a signed user operation of an account that is not deployed yet.
func operationOf(t testing.TB, s *service.Service, user *foreign.User) string {
	t.Helper()
	pins := s.Network().Pins
	account, err := smartaccount.Open(pins, user.Account)
	if err != nil {
		t.Fatal(err)
	}
	data, err := op.EncodeExecute([]op.Call{{To: common.Address{0x77}, Value: big.NewInt(1)}})
	if err != nil {
		t.Fatal(err)
	}
	factory, init, _ := account.Deployment()
	u := op.UserOp{Sender: user.Address, Nonce: new(big.Int).Lsh(account.Key192(0), 64), Factory: &factory,
		FactoryData: init, CallData: data, CallGasLimit: big.NewInt(200_000), VerificationGasLimit: big.NewInt(900_000),
		PreVerificationGas: big.NewInt(200_000), MaxFeePerGas: big.NewInt(3e9), MaxPriorityFeePerGas: big.NewInt(1e9)}
	hash, err := u.Hash(pins.EntryPoint, big.NewInt(8453))
	if err != nil {
		t.Fatal(err)
	}
	if u.Signature, err = op.Sign(op.EIP191(hash), user.Key); err != nil {
		t.Fatal(err)
	}
	raw, err := json.Marshal(bundler.Shown(u))
	if err != nil {
		t.Fatal(err)
	}
	return string(raw)
}

// deaf is the connection of a client that hears nothing.
type deaf struct{}

func (deaf) Subscribe(jsonrpc.Subscription) (any, error) { return 1, nil }
func (deaf) Unsubscribe(json.RawMessage) bool            { return true }

// call calls a method over a connection that subscriptions could use, for two seconds at most.
func (e *endpoints) call(ctx context.Context, name, params string) (any, error) {
	var p jsonrpc.Params
	if err := json.Unmarshal([]byte(params), &p); err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(jsonrpc.WithSubscriber(ctx, deaf{}), 2*time.Second)
	defer cancel()
	return e.methods[name](ctx, p)
}

// Every method that an endpoint has is one of the fuzz target below, with parameters that it takes: a new method fails
// here until it has some.
func TestEveryMethodTakesItsSeeds(t *testing.T) {
	e := newEndpoints(t)
	for name := range paramsOf {
		if e.methods[name] == nil {
			t.Errorf("there is no method %s", name)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(e.methods)) {
		if len(paramsOf[name]) == 0 {
			t.Errorf("%s has no parameters", name)
		}
		for _, params := range paramsOf[name] {
			params = e.put.Replace(params)
			if !json.Valid([]byte(params)) {
				t.Errorf("%s%s is no JSON", name, params)
			}
			_, err := e.call(t.Context(), name, params)
			var said *jsonrpc.Error
			if errors.As(err, &said) && (said.Code == jsonrpc.CodeInvalidParams ||
				said.Code == jsonrpc.CodeMethodNotFound) {
				t.Errorf("%s%s: %v", name, params, err)
			}
		}
	}
	service.Replay(t, e.s)
}

// Whatever a stranger sends to any method of an endpoint gets an answer that is JSON, or an error with words.
func FuzzMethods(f *testing.F) {
	e := newEndpoints(f)
	names := slices.Sorted(maps.Keys(e.methods))
	for i, name := range names {
		for _, params := range paramsOf[name] {
			f.Add(byte(i), e.put.Replace(params))
		}
	}
	f.Fuzz(func(t *testing.T, which byte, params string) {
		if !json.Valid([]byte(params)) || !strings.HasPrefix(params, "[") {
			return
		}
		name := names[int(which)%len(names)]
		v, err := e.call(t.Context(), name, params)
		if err != nil {
			if err.Error() == "" {
				t.Errorf("%s%s: an error without words", name, params)
			}
			return
		}
		if _, err := json.Marshal(v); err != nil {
			t.Errorf("%s%s: %v", name, params, err)
		}
	})
}
