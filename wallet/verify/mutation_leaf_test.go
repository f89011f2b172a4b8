package verify_test

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"math/big"
	"math/rand"
	"strconv"
	"strings"

	"coffer/api"
)

func number(i int) string { return strconv.Itoa(i) }

// atoi is -1 for what is no number.
func atoi(s string) int {
	i, err := strconv.Atoi(s)
	if err != nil {
		return -1
	}
	return i
}

// bigOf is -1 for what is no number.
func bigOf(s string) *big.Int {
	if v, ok := new(big.Int).SetString(s, 10); ok {
		return v
	}
	return big.NewInt(-1)
}

func jsonText(s string) string {
	raw, err := json.Marshal(s)
	if err != nil {
		panic(err) // a string has a JSON form
	}
	return string(raw)
}

// hostile are values of every type and of forms that careless readers take for something else.
func hostile() []string {
	out := []string{
		"null", "true", "false", "0", "1", "-1", "-0", "1.5", "1e9", "6.0", "18", "8453", "42161", "9007199254740993",
		"1e400", "[]", "{}", `[""]`, `{"a":1}`, `[[]]`,
	}
	for _, s := range []string{
		"", " ", "0", "1", "-1", "+1", "1e9", " 1", "1 ", "0x", "0x0", "0x00", "0x10", "0X10", "00", "1.0", "1,000",
		"NaN", "Infinity", "null", "true", "\u0661",
		strings.Repeat("9", 79), "115792089237316195423570985008687907853269984665640564039457584007913129639935",
		"115792089237316195423570985008687907853269984665640564039457584007913129639936", "1\u202e", "\x00", "1\n",
		"\u202e", strings.Repeat("f", 5000),
		"0x0000000000000000000000000000000000000000", "0x000000000000000000000000000000000000dEaD",
		"0x" + strings.Repeat("ab", 65), "0x" + strings.Repeat("0", 64),
		"eip155:1/slip44:60", "eip155:0/slip44:60", "eip155:8453/slip44:501",
		"eip155:1/erc20:0x000000000000000000000000000000000000dEaD",
		"solana:5eykt4UsFv8P8NJdTREpY1vzqKqZKvdp/slip44:501", "ob:eth", "ob:usdc", "ob:single", "ob:nothing",
		"11111111111111111111111111111111", "solana",
		"kernel-v3.1-ecdsa", "kernel-v3.3-ecdsa", "role-based", "EIP7702", "ERC4337", "COMPLETED",
		api.CallSameChainExcludeSolver, api.CallSameChainWithSolver,
		api.CallCrossChain, api.CallCrossChainSwaps, "1760000001", "1760000600", "9999999999999", "gAEAAQ==",
	} {
		out = append(out, jsonText(s))
	}
	return out
}

// near are small changes of one value, by its form: numbers beside it; digits, letters and bytes changed, left out and
// put in.
func near(raw string, rng *rand.Rand, n int) []string {
	var s string
	if raw == "null" || json.Unmarshal([]byte(raw), &s) != nil {
		return nearNumber(raw)
	}
	out := []string{jsonText(s + " "), jsonText(" " + s), jsonText(s + "\x00"), jsonText(strings.ToUpper(s)),
		jsonText(strings.ToLower(s)), jsonText(s + s), "[" + raw + "]", `{"value":` + raw + "}"}
	if s != "" {
		out = append(out, fmt.Sprintf(`"\u%04x%s`, s[0], jsonText(s[1:])[1:])) // the same text with an escape
	}
	if v, ok := new(big.Int).SetString(s, 10); ok {
		out = append(out, nearDecimal(v)...)
	}
	if b, err := base64.StdEncoding.DecodeString(s); err == nil && len(b) > 60 && !strings.HasPrefix(s, "0x") {
		out = append(out, nearBytes(b, rng, 4*n)...)
		out = append(out, jsonText(strings.TrimRight(s, "=")), jsonText(s+"="), jsonText(s[:10]+"\n"+s[10:]),
			jsonText(base64.URLEncoding.EncodeToString(b)))
	}
	return append(out, edited(s, rng, n)...)
}

func nearNumber(raw string) []string {
	v, ok := new(big.Int).SetString(raw, 10)
	if !ok {
		return []string{jsonText(raw), "[" + raw + "]", strconv.FormatBool(raw != "true")}
	}
	out := []string{jsonText(raw), raw + ".0", raw + "e0", raw + "0", "-" + raw, "[" + raw + "]"}
	for _, d := range []int64{-2, -1, 1, 2, 10, 1 << 32, 1 << 53} {
		out = append(out, new(big.Int).Add(v, big.NewInt(d)).String())
	}
	return out
}

func nearDecimal(v *big.Int) []string {
	var out []string
	for _, d := range []int64{-1000, -10, -1, 1, 10, 1000, 1_000_000_000, 1 << 62} {
		out = append(out, jsonText(new(big.Int).Add(v, big.NewInt(d)).String()))
	}
	for _, k := range []int64{2, 10, 1_000_000} {
		out = append(out, jsonText(new(big.Int).Mul(v, big.NewInt(k)).String()),
			jsonText(new(big.Int).Div(v, big.NewInt(k)).String()))
	}
	return append(out, jsonText("0"+v.String()), jsonText("+"+v.String()), jsonText("-"+v.String()),
		jsonText(v.String()+".0"), jsonText("0x"+v.Text(16)), jsonText(v.String()+"e0"), v.String())
}

// nearBytes flips bits, and leaves out, adds and cuts off bytes of base64.
func nearBytes(b []byte, rng *rand.Rand, n int) []string {
	text := func(b []byte) string { return jsonText(base64.StdEncoding.EncodeToString(b)) }
	out := []string{text(append(append([]byte{}, b...), 0)), text(b[:len(b)-1]), text(b[1:])}
	for range n {
		c := append([]byte{}, b...)
		c[rng.Intn(len(c))] ^= 1 << rng.Intn(8)
		out = append(out, text(c))
	}
	return out
}

// edited changes single characters.
func edited(s string, rng *rand.Rand, n int) []string {
	const alphabet = "0123456789abcdefABCDEFxyzT:/ "
	var out []string
	for range n {
		b := []byte(s)
		if len(b) == 0 {
			break
		}
		k, c := rng.Intn(len(b)), alphabet[rng.Intn(len(alphabet))]
		switch rng.Intn(6) {
		case 0, 1, 2:
			b[k] = c
		case 3:
			b = append(b[:k:k], b[k+1:]...)
		case 4:
			b = append(b[:k:k], append([]byte{c}, b[k:]...)...)
		case 5:
			b = b[:k]
		}
		out = append(out, jsonText(strings.ToValidUTF8(string(b), "?")))
	}
	return out
}

// some takes at most n of the values, in their order.
func some(all []string, rng *rand.Rand, n int) []string {
	if len(all) <= n {
		return all
	}
	keep := map[int]bool{}
	for _, i := range rng.Perm(len(all))[:n] {
		keep[i] = true
	}
	var out []string
	for i, v := range all {
		if keep[i] {
			out = append(out, v)
		}
	}
	return out
}
