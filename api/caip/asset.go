package caip

import (
	"strings"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/common/hexutil"
)

// Asset is a CAIP-19 asset type. It is comparable; an erc20 reference is kept in
// lower case, a token (SPL) reference is the base58 mint. The zero value means none.
type Asset struct {
	Chain     Chain
	Namespace string
	Reference string
}

// ParseAsset reads a CAIP-19 asset type without a token id.
func ParseAsset(s string) (Asset, error) {
	chainPart, rest, ok := strings.Cut(s, "/")
	ns, ref, ok2 := strings.Cut(rest, ":")
	if !ok || !ok2 || !isNamespace(ns) || !within(ref, 1, 128, isFree) {
		return Asset{}, refuse(s, "a CAIP-19 asset such as eip155:8453/erc20:0x…")
	}
	chain, err := ParseChain(chainPart)
	if err != nil {
		return Asset{}, refuse(s, "a CAIP-19 asset; before the slash it needs "+wantChain)
	}
	switch chain.Namespace {
	case nsEVM:
		return evmAsset(s, chain, ns, ref)
	case nsSolana:
		return solanaAsset(s, chain, ns, ref)
	}
	return Asset{Chain: chain, Namespace: ns, Reference: ref}, nil
}

func evmAsset(s string, chain Chain, ns, ref string) (Asset, error) {
	switch {
	case ns == slip44 && ref == slipETH:
	case ns == kindERC20:
		token, err := ParseAddress(ref)
		if err != nil {
			return Asset{}, refuse(s, "an erc20 asset; its reference must be 0x and 40 hexadecimal digits")
		}
		ref = lower(token)
	default:
		return Asset{}, refuse(s, "an asset of an eip155 chain: erc20:0x… or slip44:60")
	}
	return Asset{Chain: chain, Namespace: ns, Reference: ref}, nil
}

func solanaAsset(s string, chain Chain, ns, ref string) (Asset, error) {
	switch {
	case ns == slip44 && ref == slipSOL:
	case ns == kindSPL:
		if _, err := ParseSolanaKey(ref); err != nil {
			return Asset{}, refuse(s, "an SPL token; its reference must be base58 of 32 bytes")
		}
	default:
		return Asset{}, refuse(s, "an asset of a solana chain: token:<mint> or slip44:501")
	}
	return Asset{Chain: chain, Namespace: ns, Reference: ref}, nil
}

// ERC20 is the asset eip155:chainID/erc20:token.
func ERC20(chainID uint64, token common.Address) Asset {
	return Asset{Chain: EVM(chainID), Namespace: kindERC20, Reference: lower(token)}
}

// Native is the native coin of an EVM chain, written slip44:60 on every eip155 chain.
func Native(chainID uint64) Asset {
	return Asset{Chain: EVM(chainID), Namespace: slip44, Reference: slipETH}
}

// SOL is the native coin of Solana's main network, slip44:501.
func SOL() Asset {
	return Asset{Chain: SolanaMainnet(), Namespace: slip44, Reference: slipSOL}
}

// SPL is the token of the given mint on Solana's main network.
func SPL(mint [32]byte) Asset {
	return Asset{Chain: SolanaMainnet(), Namespace: kindSPL, Reference: FormatSolanaKey(mint)}
}

// String is the canonical CAIP-19 form with EVM addresses in lower case, or "" for
// the zero value.
func (a Asset) String() string {
	if a == (Asset{}) {
		return ""
	}
	return a.Chain.String() + "/" + a.Namespace + ":" + a.Reference
}

// Display is String with an erc20 reference in EIP-55 mixed case.
func (a Asset) Display() string {
	token, ok := a.Token()
	if !ok {
		return a.String()
	}
	return a.Chain.String() + "/" + kindERC20 + ":" + token.Hex()
}

// IsNative reports whether the asset is the coin of its chain.
func (a Asset) IsNative() bool {
	return a.Namespace == slip44 && (a.Chain.Namespace == nsEVM && a.Reference == slipETH ||
		a.Chain.Namespace == nsSolana && a.Reference == slipSOL)
}

// Token is the contract of an erc20 asset.
func (a Asset) Token() (common.Address, bool) {
	if a.Chain.Namespace != nsEVM || a.Namespace != kindERC20 {
		return common.Address{}, false
	}
	token, err := ParseAddress(a.Reference)
	return token, err == nil
}

// Mint is the mint of a Solana token.
func (a Asset) Mint() ([32]byte, bool) {
	if a.Chain.Namespace != nsSolana || a.Namespace != kindSPL {
		return [32]byte{}, false
	}
	mint, err := ParseSolanaKey(a.Reference)
	return mint, err == nil
}

// Word is the asset in 32 bytes as contracts name it: a token's address padded with zeros on the left, a mint as it is,
// and zero for the coin of a chain.
func (a Asset) Word() [32]byte {
	if token, ok := a.Token(); ok {
		return common.BytesToHash(token[:])
	}
	mint, _ := a.Mint()
	return mint
}

func lower(a common.Address) string { return hexutil.Encode(a[:]) }
