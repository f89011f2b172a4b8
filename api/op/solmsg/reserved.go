package solmsg

import (
	"slices"
	"strings"

	"github.com/gagliardetto/solana-go"
)

// manyOnes is how many '1's in a row no address of a key pair has. A key whose address has sixteen chosen characters in
// a row takes some 2⁹⁰ tries.
const manyOnes = 16

// IsReservedKey reports whether a key is an address of Solana that has no private key although it may lie on
// the curve: programs, sysvars, mints and the incinerator (see WellKnown), and whatever address has sixteen or more
// '1's in a row in base58, as such addresses are made by hand.
func IsReservedKey(k Key) bool {
	text := k.String()
	return strings.Contains(text, strings.Repeat("1", manyOnes)) ||
		slices.Contains(fromLibrary(), solana.PublicKey(k)) ||
		slices.ContainsFunc(typed(), func(list []string) bool { return slices.Contains(list, text) })
}

// WellKnown lists addresses of Solana's mainnet that belong to no key pair. Those that the library names come from it;
// the others are typed from the public documentation of Solana's runtime, of the SPL programs and of the tokens.
func WellKnown() []Key {
	var out []Key
	for _, k := range fromLibrary() {
		out = append(out, Key(k))
	}
	for _, list := range typed() {
		for _, text := range list {
			out = append(out, Key(solana.MustPublicKeyFromBase58(text)))
		}
	}
	return out
}

// Reserved reports whether a key is the runtime's own: its programs and loaders, sysvars, and programs that were built
// in once. No transaction writes to such an account (Agave's reserved account keys).
func Reserved(k Key) bool {
	return slices.Contains(runtimeFromLibrary(), solana.PublicKey(k)) || slices.Contains(runtimeAddresses(), k.String())
}

// Incinerator is where lamports go to be burned.
func Incinerator() Key { return Key(solana.MustPublicKeyFromBase58(incinerator)) }

const (
	incinerator    = "1nc1nerator11111111111111111111111111111111"
	loaderV4       = "LoaderV411111111111111111111111111111111111"
	ed25519Program = "Ed25519SigVerify111111111111111111111111111"
)

func typed() [][]string {
	return [][]string{runtimeAddresses(), splAddresses(), mintAddresses(), {incinerator}}
}

func fromLibrary() []solana.PublicKey {
	return append(runtimeFromLibrary(),
		solana.TokenProgramID, solana.Token2022ProgramID, solana.SPLAssociatedTokenAccountProgramID,
		solana.MemoProgramID, solana.TokenSwapProgramID,
		solana.TokenLendingProgramID, solana.TokenMetadataProgramID, solana.SolMint,
	)
}

func runtimeFromLibrary() []solana.PublicKey {
	return []solana.PublicKey{
		solana.SystemProgramID, solana.ConfigProgramID, solana.StakeProgramID, solana.VoteProgramID,
		solana.BPFLoaderDeprecatedProgramID,
		solana.BPFLoaderProgramID, solana.BPFLoaderUpgradeableProgramID, solana.Secp256k1ProgramID,
		solana.FeatureProgramID, solana.ComputeBudget,
		solana.AddressLookupTableProgramID,

		solana.SysVarClockPubkey, solana.SysVarEpochSchedulePubkey, solana.SysVarFeesPubkey,
		solana.SysVarInstructionsPubkey,
		solana.SysVarRecentBlockHashesPubkey, solana.SysVarRentPubkey, solana.SysVarRewardsPubkey,
		solana.SysVarSlotHashesPubkey,
		solana.SysVarSlotHistoryPubkey, solana.SysVarStakeHistoryPubkey, solana.SysVarStakeConfigPubkey,
	}
}

// runtimeAddresses are what the runtime itself reserves, beside what the library names.
func runtimeAddresses() []string {
	return []string{
		"NativeLoader1111111111111111111111111111111",
		loaderV4,
		ed25519Program,
		"Secp256r1SigVerify1111111111111111111111111",
		"ZkTokenProof1111111111111111111111111111111",
		"ZkE1Gama1Proof11111111111111111111111111111",
		"Sysvar1111111111111111111111111111111111111", // owns the sysvars
		"SysvarEpochRewards1111111111111111111111111",
		"SysvarLastRestartS1ot1111111111111111111111",
	}
}

// splAddresses are programs of the Solana Program Library, beside what the library names.
func splAddresses() []string {
	return []string{
		"Memo1UhkJRfHyvLMcVucJwxXeuD728EqVDDwQDxFMNo", // the first version of memo
		"SPoo1Ku8WFXoNDMHPsrGSTSG1Y47rzgn41SLUNakuHy", // stake pool
		"namesLPneVptA9Z5rqUDD9tMTWEJwofgaYwp8cawRkX", // name service
	}
}

// mintAddresses are the mints of widely used tokens.
func mintAddresses() []string {
	return []string{
		"9pan9bMn5HatX4EJdBwg9VgCa7Uz5HL8N1m5D3NdXejP", // SOL in Token 2022
		"EPjFWdd5AufqSSqeM2qN1xzybapC8G4wEGGkZwyTDt1v", // USDC
		"Es9vMFrzaCERmJfrF4H2FYD4KCoNkY11McCe8BenwNYB", // USDT
		"2b1kV6DkPAnxd5ixfnxCpjxmKwqjjaYmCZfHsFu24GXo", // PYUSD
		"USDSwr9ApdHk5bvJKMjzff41FfuX8bSxdKcR81vTwcA",  // USDS
		"2u1tszSeqZ3qBWF3uNGPFc8TzMk2tdiwknnRMWGWjGWH", // USDG
		"A1KLoBrKBde8Ty9qtNQUtq3C2ortoC3u7twggz7sEto6", // USDY
		"HzwqbKZw8HxMN6bF2yFZNrht3c2iXXzpKcFu7uBEDKtr", // EURC
		"mSoLzYCxHdYgdzU16g5QSh3i5K3z3KZK7ytfqcJm7So",  // mSOL
		"J1toso1uCk3RLmjorhTtrVwY9HJ7X8V9yYac6Y7kGCPn", // JitoSOL
		"bSo13r4TkiE4KumL71LsHTPpL2euBYLFx6h9HP3piy1",  // bSOL
		"7dHbWXmci3dT8UFYWYZweBLXgycu7Y3iL6trKn1Y7ARj", // stSOL
		"7vfCXTUXx5WJV5JADk17DUJ4ksgau7utNKj4b963voxs", // ETH of Wormhole
		"3NZ9JMVBmGAqocybic2c7LQCJScmgsAZ6vQqTDzcqmJh", // WBTC of Wormhole
		"cbbtcf3aa214zXHbiAZQwf4122FBYbraNdFqgw4iMij",  // cbBTC
		"JUPyiwrYJFskUPiHa7hkeR8VUtAeFoSYbKedZNsDvCN",  // JUP
		"jtojtomepa8beP8AuQc6eXt5FriJwfFMwQx2v2f9mCL",  // JTO
		"HZ1JovNiVvGrGNiiYvEozEVgZ58xaU3RKwX8eACQBCt3", // PYTH
		"4k3Dyjzvzp8eMZWUXbBCjEvwSkkk59S5iCNLY3QrkX6R", // RAY
		"orcaEKTdK7LKz57vaAYr9QeNsVEPfiu6QeMU1kektZE",  // ORCA
		"SRMuApVNdxXokk5GT7XD5cUUgXMBCoAz2LHeuAoKWRt",  // SRM
		"85VBFQZC9TZkfaptBWjvUw7YbZjy52A6mjtPGjstQAmQ", // W
		"rndrizKT3MK1iimdxRdWabcF7Zg7AR5T4nud4EkHBof",  // RENDER
		"hntyVP6YFm1Hg25TN9WGLqM12b8TQmcknKrdu1oxWux",  // HNT
		"DezXAZ8z7PnrnRJjz3wXBoRgixCa6xjnB7YaB1pPB263", // BONK
		"EKpQGSJtjMFqKZ9KQanSqYXRcF8fBopzLHYxdM65zcjm", // WIF
	}
}
