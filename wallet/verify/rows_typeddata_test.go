package verify_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/ethereum/go-ethereum/common"

	"coffer/api"
	"coffer/api/op"
	"coffer/wallet/verify"
)

// document712 is a foreign EIP-712 document: its domain, its types and its message as a drainer would send them.
type document712 struct {
	name, version, contract string
	primary, types, message string
}

const (
	permit2    = "0x000000000022D473030F116dDEE9F6B43aC78BA3"
	seaport    = "0x0000000000000068F116a894984e2DB1123eB395"
	usdcOnBase = "0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913"
)

// foreign712 are documents of other protocols that hand over tokens when the same key signs them.
func foreign712() map[string]document712 {
	const owner, spender = `"owner":"0x000000000000000000000000000000000000dEaD"`,
		`"spender":"0x000000000000000000000000000000000000dEaD"`
	return map[string]document712{
		"permit of USDC": {"USD Coin", "2", usdcOnBase, "Permit",
			"owner address,spender address,value uint256,nonce uint256,deadline uint256",
			owner + "," + spender + `,"value":"1"`},
		"permit of DAI": {"Dai Stablecoin", "1", "0x6B175474E89094C44Da98b954EedeAC495271d0F", "Permit",
			"holder address,spender address,nonce uint256,expiry uint256,allowed bool", spender + `,"allowed":true`},
		"permit of UNI": {"Uniswap", "", "0x1f9840a85d5aF5bf1D1762F925BDADdC4201F984", "Permit",
			"owner address,spender address,value uint256,nonce uint256,deadline uint256", owner},
		"permit of stETH": {"Liquid staked Ether 2.0", "2", "0xae7ab96520DE3A18E5e111B5EaAb095312D7fE84",
			"Permit", "owner address,spender address,value uint256,nonce uint256,deadline uint256", owner},
		"permit2 single": {"Permit2", "", permit2, "PermitSingle",
			"details PermitDetails,spender address,sigDeadline uint256", spender},
		"permit2 batch": {"Permit2", "", permit2, "PermitBatch",
			"details PermitDetails[],spender address,sigDeadline uint256", spender},
		"permit2 transfer": {"Permit2", "", permit2, "PermitTransferFrom",
			"permitted TokenPermissions,spender address,nonce uint256,deadline uint256", spender},
		"permit2 batch transfer": {"Permit2", "", permit2, "PermitBatchTransferFrom",
			"permitted TokenPermissions[],spender address,nonce uint256,deadline uint256", spender},
		"permit2 witness (order)": {"Permit2", "", permit2, "PermitWitnessTransferFrom",
			"permitted TokenPermissions,spender address,nonce uint256,deadline uint256,witness ExclusiveDutchOrder",
			spender},
		"transferWithAuthorization": {"USD Coin", "2", usdcOnBase, "TransferWithAuthorization",
			"from address,to address,value uint256,validAfter uint256,validBefore uint256,nonce bytes32",
			`"to":"0x000000000000000000000000000000000000dEaD"`},
		"receiveWithAuthorization": {"USD Coin", "2", usdcOnBase, "ReceiveWithAuthorization",
			"from address,to address,value uint256,validAfter uint256,validBefore uint256,nonce bytes32",
			`"to":"0x000000000000000000000000000000000000dEaD"`},
		"seaport order": {"Seaport", "1.6", seaport, "OrderComponents",
			"offerer address,zone address,offer OfferItem[],consideration ConsiderationItem[]",
			`"offerer":"0x000000000000000000000000000000000000dEaD"`},
		"seaport bulk order": {"Seaport", "1.5", "0x00000000000000ADc04C56Bf30aC9d3c0aAF14dC", "BulkOrder",
			"tree OrderComponents[2][2]", `"tree":[]`},
		"wyvern order": {"Wyvern Exchange Contract", "2.3", "0x7f268357A8c2552623316e2562D90e642bB538E5", "Order",
			"exchange address,maker address,taker address", `"maker":"0x000000000000000000000000000000000000dEaD"`},
		"blur root": {"Blur Exchange", "1.0", "0x000000000000Ad05Ccc4F10045630fb830B95127", "Root",
			"root bytes32", `"root":"0x00"`},
		"looksrare order": {"LooksRareExchange", "2", "0x0000000000E655fAe4d56241588680F86E3b2377", "Maker",
			"quoteType uint8,collection address,signer address",
			`"collection":"0x000000000000000000000000000000000000dEaD"`},
		"cow order": {"Gnosis Protocol", "v2", "0x9008D19f58AAbD9eD0D60971565AA8510560ab41", "Order",
			"sellToken address,buyToken address,receiver address,sellAmount uint256",
			`"receiver":"0x000000000000000000000000000000000000dEaD"`},
		"0x limit order": {"ZeroEx", "1.0.0", "0xDef1C0ded9bec7F1a1670819833240f027b25EfF", "LimitOrder",
			"makerToken address,takerToken address,makerAmount uint128", `"makerAmount":"1"`},
		"1inch order": {"1inch Aggregation Router", "6", "0x111111125421cA6dc452d289314280a0f8842A65", "Order",
			"salt uint256,maker address,receiver address", `"receiver":"0x000000000000000000000000000000000000dEaD"`},
		"meta transaction": {"Wrapped Ether", "1", "0x7ceB23fD6bC0adD59E62ac25578270cFf1b9f619", "MetaTransaction",
			"nonce uint256,from address,functionSignature bytes", `"functionSignature":"0xa9059cbb"`},
		"safe transaction": {"", "", "0x41675C099F32341bf84BFc5382aF534df5C7461a", "SafeTx",
			"to address,value uint256,data bytes,operation uint8", `"operation":1`},
		"credit delegation": {"Aave Variable Debt Base USDC", "1", "0x59dca05b6c26dbd64b5381374aAaC5CD05644C28",
			"DelegationWithSig", "delegatee address,value uint256,nonce uint256,deadline uint256",
			`"delegatee":"0x000000000000000000000000000000000000dEaD"`},
		"votes": {"Compound", "", "0xc00e94Cb662C3520282E6f5717214004A7f26888", "Delegation",
			"delegatee address,nonce uint256,expiry uint256",
			`"delegatee":"0x000000000000000000000000000000000000dEaD"`},
	}
}

// json is the document as it would be served.
func (d document712) json(chainID uint64) string {
	domain := fmt.Sprintf(`"chainId":%d,"verifyingContract":%q`, chainID, d.contract)
	if d.name != "" {
		domain += fmt.Sprintf(`,"name":%q`, d.name)
	}
	if d.version != "" {
		domain += fmt.Sprintf(`,"version":%q`, d.version)
	}
	var fields []string
	for _, f := range strings.Split(d.types, ",") {
		name, kind, _ := strings.Cut(f, " ")
		fields = append(fields, fmt.Sprintf(`{"name":%q,"type":%q}`, name, kind))
	}
	return fmt.Sprintf(`{"domain":{%s},"types":{%q:[%s]},"primaryType":%q,"message":{%s}}`, domain, d.primary,
		strings.Join(fields, ","), d.primary, d.message)
}

// withTypedData puts typed data into a prepare answer or the first operation of a quote.
func withTypedData(t *testing.T, base *api.Document, pointer, value string) *api.Document {
	t.Helper()
	if !json.Valid([]byte(value)) {
		t.Fatalf("not JSON: %s", value)
	}
	doc, err := base.Splice(api.Edit{Pointer: pointer + "/typedDataToSign", Value: []byte(value)})
	if err != nil {
		t.Fatal(err)
	}
	return doc
}

// TestT1_DocumentsOfOtherProtocolsAreRefused sends each as it is, which breaks the form (L4), and dressed up as an
// approval of the right form in its own domain, which only the registry of domains can tell apart (T1).
func TestT1_DocumentsOfOtherProtocolsAreRefused(t *testing.T) {
	documents := foreign712()
	if len(documents) < 20 {
		t.Fatalf("%d documents", len(documents))
	}
	each(t, func(t *testing.T, w *world) {
		w.Freeze()
		base := w.Document(w.PrepareResponse())
		s, quote := w.signed(), w.Document(w.CrossChain())
		for name, d := range documents {
			t.Run(name, func(t *testing.T) {
				p, r := w.prepared(withTypedData(t, base, "/chainOperation", d.json(8453)))
				refused(t, p != nil, r, "L4")
				q, r := w.quote(s, withTypedData(t, quote, "/originChainsOperations/0", d.json(42161)))
				refused(t, q != nil, r, "L4")

				u, err := op.FromWire(*w.PrepareResponse().ChainOperation.UserOp)
				if err != nil {
					t.Fatal(err)
				}
				if d.name == "" {
					d.name = "Safe"
				}
				if d.version == "" {
					d.version = "1"
				}
				domain := op.Domain{Name: d.name, Version: d.version, ChainID: 8453,
					VerifyingContract: common.HexToAddress(d.contract)}
				dressed, err := json.Marshal(domain.ApproveWire(op.CallDataAndNonceHash(w.Account, u.CallData,
					u.Nonce)))
				if err != nil {
					t.Fatal(err)
				}
				p, r = w.prepared(withTypedData(t, base, "/chainOperation", string(dressed)))
				refused(t, p != nil, r, "T1")
				if !r.Has("T3", verify.Refuse) {
					t.Fatalf("the foreign contract is not named: %+v", r.Reasons)
				}
			})
		}
	})
}

func TestT1ToT7_TheTypedDataIsTheOneOfThisOperation(t *testing.T) {
	for name, c := range map[string]struct {
		code, pointer string
		value         any
	}{
		"other name":       {"T1", "/domain/name", "USD Coin"},
		"one letter":       {"T1", "/domain/name", "ECDSAvalidator"},
		"other version":    {"T1", "/domain/version", "0.3.2"},
		"other chain":      {"T2", "/domain/chainId", 1},
		"chain zero":       {"T2", "/domain/chainId", 0},
		"foreign contract": {"T3", "/domain/verifyingContract", stranger},
		"name not text":    {"T4", "/domain/name", "ECDSAValidator\u202e"},
		"other member":     {"T5", "/types/Approve/0/name", "permitHash"},
		"other type":       {"T5", "/types/Approve/0/type", "uint256"},
		"two members": {"T5", "/types/Approve",
			[]map[string]string{{"name": "callDataAndNonceHash", "type": "bytes32"}, {"name": "x", "type": "bytes32"}}},
		"other primary":   {"T6", "/primaryType", "Permit"},
		"domain primary":  {"T6", "/primaryType", "EIP712Domain"},
		"short hash":      {"T6", "/message/callDataAndNonceHash", "0x00"},
		"other operation": {"T7", "/message/callDataAndNonceHash", "0x" + strings.Repeat("ab", 32)},
	} {
		t.Run(name, func(t *testing.T) {
			each(t, func(t *testing.T, w *world) {
				w.Freeze()
				p, r := w.prepared(replace(t, w.Document(w.PrepareResponse()),
					"/chainOperation/typedDataToSign"+c.pointer, c.value))
				refused(t, p != nil, r, c.code)
				q, r := w.quote(w.signed(), replace(t, w.Document(w.CrossChain()),
					"/originChainsOperations/1/typedDataToSign"+c.pointer, c.value))
				refused(t, q != nil, r, c.code)
			})
		})
	}
}

func TestT4_TheDomainHasItsFourMembers(t *testing.T) {
	for member, code := range map[string]string{"name": "T4", "version": "T4", "chainId": "T2",
		"verifyingContract": "L5"} {
		each(t, func(t *testing.T, w *world) {
			p, r := w.prepared(drop(t, w.Document(w.PrepareResponse()),
				"/chainOperation/typedDataToSign/domain/"+member))
			refused(t, p != nil, r, code)
		})
	}
	each(t, func(t *testing.T, w *world) {
		p, r := w.prepared(replace(t, w.Document(w.PrepareResponse()), "/chainOperation/typedDataToSign/domain/salt",
			"0x"+strings.Repeat("00", 32)))
		refused(t, p != nil, r, "L4")
	})
}

func TestT7_EveryNibbleOfTheHashCounts(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		w.Freeze()
		answer := w.PrepareResponse()
		base, hash := w.Document(answer), answer.ChainOperation.TypedDataToSign.Message.CallDataAndNonceHash
		for i := 2; i < len(hash); i++ {
			forged := []byte(hash)
			if forged[i] = '0'; hash[i] == '0' {
				forged[i] = '1'
			}
			p, r := w.prepared(replace(t, base, "/chainOperation/typedDataToSign/message/callDataAndNonceHash",
				string(forged)))
			refused(t, p != nil, r, "T7")
		}
	})
}

// TestT7_TheHashOfAnotherValidOperationIsRefused shows operation A and asks for the approval of operation B, which the
// same account could have prepared.
func TestT7_TheHashOfAnotherValidOperationIsRefused(t *testing.T) {
	prepareRefused(t, "T7", func(w *world, r *api.PrepareResponse) {
		other := w.PreparedOperation(append(w.Asked(), approve(stranger, 250_500_000)))
		r.ChainOperation.TypedDataToSign = other.TypedDataToSign
	})
	quoteRefused(t, "T7", func(w *world, q *api.Quote) {
		other := w.PreparedOperation(append(w.Asked(), approve(stranger, 250_500_000)))
		td := *q.OriginChainsOperations[0].TypedDataToSign
		td.Message = other.TypedDataToSign.Message
		q.OriginChainsOperations[0].TypedDataToSign = &td
	})
}

func TestT2_TheChainIDIsAPlainInteger(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		base := w.Document(w.PrepareResponse())
		for _, raw := range []string{`8453.0`, `8.453e3`, `"8453"`, `-8453`, `84530e-1`} {
			doc, err := base.Splice(api.Edit{Pointer: "/chainOperation/typedDataToSign/domain/chainId",
				Value: []byte(raw)})
			if err != nil {
				t.Fatal(err)
			}
			p, r := w.prepared(doc)
			refused(t, p != nil, r, "L3")
		}
	})
}

func TestT5_TheCanonicalDomainTypeMayBePresent(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		domain := []map[string]string{{"name": "name", "type": "string"}, {"name": "version", "type": "string"},
			{"name": "chainId", "type": "uint256"}, {"name": "verifyingContract", "type": "address"}}
		if p, r := w.prepared(replace(t, w.Document(w.PrepareResponse()),
			"/chainOperation/typedDataToSign/types/EIP712Domain", domain)); p == nil {
			t.Fatalf("refused: %+v", r.Reasons)
		}
		domain[2]["name"] = "salt"
		p, r := w.prepared(replace(t, w.Document(w.PrepareResponse()),
			"/chainOperation/typedDataToSign/types/EIP712Domain", domain))
		refused(t, p != nil, r, "T5")
	})
}

func TestT8_TypedDataOfAKernelAccountIsNeverWhatGetsSigned(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		answer := w.PrepareResponse()
		p, r := w.prepared(w.Document(answer))
		if p == nil {
			t.Fatalf("%+v", r.Reasons)
		}
		digest := w.Domain(8453).ApproveDigest(common.HexToHash(
			answer.ChainOperation.TypedDataToSign.Message.CallDataAndNonceHash)).Hex()
		_, approves := p.Signing().Approve()
		if signs := p.Signing().Digest() == digest; signs != (w.Kind == api.AccountRoleBased) || approves != signs {
			t.Fatalf("signs the typed data: %v, offers an approval: %v", signs, approves)
		}
	})
}
