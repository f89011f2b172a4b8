package assets

// Catalog is catalog.json: the chains and the assets that everybody knows. A file of the same form adds to them.
type Catalog struct {
	Chains []Chain `json:"chains"`
	Tokens []Token `json:"tokens"` // in the order in which a list without balances shows them
}

// Chain is one chain of the service: an EVM chain or Solana's main network.
type Chain struct {
	Chain         string `json:"chain"` // CAIP-2, "eip155:8453"
	Name          string `json:"name"`
	Short         string `json:"short"` // lower-case word for narrow columns and flags
	NativeSymbol  string `json:"nativeSymbol"`
	BlockExplorer string `json:"blockExplorer"` // of the real chain; never used for embedded chains
	GasPriceWei   string `json:"gasPriceWei"`   // price table of the network fee (protocol §3.5), wei per gas; EVM only
}

// Token is one aggregated asset.
type Token struct {
	AggregatedAssetID  string   `json:"aggregatedAssetId"` // "ob:usdc"
	Symbol             string   `json:"symbol"`
	Name               string   `json:"name"`
	Decimals           *int     `json:"decimals"`                // nil = forgotten
	PriceMicroUSD      string   `json:"priceMicroUSD,omitempty"` // micro-USD per whole token; "" = unknown
	AggregatedEntities []Entity `json:"aggregatedEntities"`
}

// Entity is an asset on one chain. Its decimals may differ from those of its aggregate.
type Entity struct {
	AssetType string `json:"assetType"` // CAIP-19; ERC-20 references are EIP-55
	Decimals  *int   `json:"decimals"`
	Name      string `json:"name"`
	Symbol    string `json:"symbol"`
}

// Networks is networks.json: what a file of own nodes says of real chains beside the catalogue. Its sources: NOTICE.
type Networks struct {
	FeeCaps []FeeCap `json:"feeCaps"`
	Feeds   []Feed   `json:"feeds"`
	Powers  []Powers `json:"powers"`
}

// FeeCap is what gas may cost on a chain at most, until its owner writes something else.
type FeeCap struct {
	Chain string `json:"chain"`
	Gwei  int    `json:"gwei"`
}

// Feed is a Chainlink aggregator that answers the price of an aggregated asset in USD. Heartbeat is how old an answer
// may become, in seconds.
type Feed struct {
	Chain     string `json:"chain"`
	Aggregate string `json:"aggregate"`
	Address   string `json:"address"`
	Decimals  int    `json:"decimals"`
	Heartbeat int    `json:"heartbeat"`
}

// Powers are what the issuer of a token can do with the tokens of others.
type Powers struct {
	Asset  string   `json:"asset"` // CAIP-19
	Powers []string `json:"powers"`
}

// Pins is pins.json: what is the same on every network (protocol §4.2, §8.4).
type Pins struct {
	EntryPoint              string    `json:"entryPoint"`
	EntryPointSalt          string    `json:"entryPointSalt"` // CREATE2 salt through DeterministicDeployer
	DeterministicDeployer   string    `json:"deterministicDeployer"`
	KernelV31Implementation string    `json:"kernelV31Implementation"`
	KernelV33Delegate       string    `json:"kernelV33Delegate"` // EIP-7702 delegation target
	Factory                 string    `json:"factory"`
	MetaFactory             string    `json:"metaFactory"`         // userOp.factory
	AccountInitCodeHash     string    `json:"accountInitCodeHash"` // keccak256 of the 95-byte proxy init code
	ECDSAValidator          string    `json:"ecdsaValidator"`
	RoleBasedValidator      string    `json:"roleBasedValidator"`
	Paymaster               string    `json:"paymaster"`
	Escrow                  string    `json:"escrow"` // last 20 bytes of keccak256("coffer escrow 1")
	Formulas                []Formula `json:"formulas"`
}

// Formula says how callDataAndNonceHash is computed for one EIP-712 domain (protocol §2.10, §2.11).
type Formula struct {
	Name              string `json:"name"`
	Version           string `json:"version"`
	VerifyingContract string `json:"verifyingContract"`
	Formula           string `json:"formula"`
}

// Demo is demo.json. Its private key is public: it may only be used on embedded chains.
type Demo struct {
	Notice      string      `json:"notice"`
	KeyText     string      `json:"keyText"`    // PrivateKey = keccak256(KeyText)
	PrivateKey  string      `json:"privateKey"` // 0x + 64 hex
	Signer      string      `json:"signer"`     // address of PrivateKey
	AddressBook []BookEntry `json:"addressBook"`
}

// BookEntry is a named demo recipient. Address = last 20 bytes of keccak256(AddressText), so nobody holds its key.
type BookEntry struct {
	Name        string `json:"name"`
	Address     string `json:"address"`
	AddressText string `json:"addressText"`
	Note        string `json:"note"`
}

// Catalogue returns catalog.json.
func Catalogue() (Catalog, error) { return read[Catalog]("catalog.json") }

// ParseCatalog reads a file of the form of catalog.json, as strictly.
func ParseCatalog(raw []byte) (c Catalog, err error) {
	err = decodeStrict(raw, &c)
	return c, err
}

// NetworkFacts returns networks.json.
func NetworkFacts() (Networks, error) { return read[Networks]("networks.json") }

// PinnedAddresses returns pins.json.
func PinnedAddresses() (Pins, error) { return read[Pins]("pins.json") }

// PinnedCode returns code.json: the keccak-256 hashes of the code at pinned addresses, where it is the same on every
// chain. A test of api/service/pinned makes it.
func PinnedCode() (map[string]string, error) { return read[map[string]string]("code.json") }

// DemoKey returns demo.json.
func DemoKey() (Demo, error) { return read[Demo]("demo.json") }

func read[T any](name string) (T, error) {
	var v T
	err := ReadJSON(name, &v)
	return v, err
}
