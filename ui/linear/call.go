package linear

import (
	"context"
	"encoding/hex"
	"math/big"
	"strconv"
	"strings"

	"github.com/ethereum/go-ethereum/common"

	"coffer/api"
	"coffer/api/amount"
	"coffer/api/caip"
	"coffer/api/op/abicall"
	"coffer/ui/present"
	"coffer/wallet/intent"
)

// maxFunction bounds the signature that an intent keeps for display, in bytes.
const maxFunction = 512

// callChoices lists the changes to a plan of calls.
func (s *session) callChoices(ctx context.Context, p *plan, add func(string, func() error)) {
	add("Add a call", func() error { return s.addCall(ctx, p, -1) })
	add("Change or remove a call", func() error { return s.changeCall(ctx, p) })
	add("Allowances: "+itoa(len(p.d.Allowances)), func() error { return s.changeAllowances(ctx, p) })
	needs := "as the calls say"
	if !p.follows {
		needs = "your own list"
	}
	add("Needed tokens: "+needs, func() error { return s.changeNeeds(ctx, p) })
	pays := "whatever the service chooses of the needed asset"
	if p.d.FundWith != "" {
		pays = s.assetWords(p.d.FundWith)
	}
	add("Pays with: "+pays, func() error { return s.changeFunding(ctx, p) })
	valid := plural(p.minutes, "minute", "minutes")
	if p.minutes == 0 {
		valid = "as the file says"
	}
	add("Valid for: "+valid, func() error { return s.askMinutes(ctx, p) })
}

// addCall asks for a call and appends it, or replaces call i with it.
func (s *session) addCall(ctx context.Context, p *plan, i int) error {
	if i < 0 && len(p.d.Calls) >= api.MaxListed {
		s.out.say("A request has at most " + itoa(api.MaxListed) + " calls.")
		return nil
	}
	c, err := s.askCall(ctx, p.chain())
	if err != nil {
		return err
	}
	if name := grants(c.Data); name != "" {
		return s.approval(ctx, p, c, name)
	}
	if i < 0 {
		p.d.Calls = append(p.d.Calls, c)
	} else {
		p.d.Calls[i] = c
	}
	return nil
}

// askCall asks for the contract, the function with its arguments, and the value.
func (s *session) askCall(ctx context.Context, chain caip.Chain) (intent.Call, error) {
	to, err := s.askAddress(ctx, chain, "Which contract is called on "+present.ChainName(s.ctx.Catalog, chain.String())+
		"?")
	if err != nil {
		return intent.Call{}, err
	}
	c := intent.Call{To: to}
	fn, err := s.askFunction(ctx, chain, &c)
	if err != nil {
		return intent.Call{}, err
	}
	if fn != nil {
		values, err := s.askArgs(ctx, chain, *fn, to)
		if err != nil {
			return intent.Call{}, err
		}
		data, err := fn.Encode(values)
		if err != nil {
			s.out.say("These arguments make no call: " + sentence(clean(err.Error(), 300)))
			return intent.Call{}, errBack
		}
		c.Data = "0x" + hex.EncodeToString(data)
		if text := fn.String(); len(text) <= maxFunction && present.Clean(text, maxFunction) == text {
			c.Function = text
		}
	}
	if _, token := s.tokenAt(chain, to); token && fn != nil {
		return c, nil // a token accepts no coin with a call
	}
	c.Value, err = s.askValue(ctx, chain)
	return c, err
}

// askFunction asks for a function by its signature, for call data, or for neither. It returns nil when there are no
// arguments to ask for.
func (s *session) askFunction(ctx context.Context, chain caip.Chain, c *intent.Call) (*abicall.Function, error) {
	text := "Which function? Type a signature such as transfer(address to, uint256 amount), data to give call data " +
		"in hex, or none to send only the chain's own coin:"
	for {
		a, err := s.ask(ctx, question{text: text})
		if err != nil {
			return nil, err
		}
		switch strings.ToLower(a) {
		case "none":
			return nil, nil
		case "data":
			return nil, s.askData(ctx, c)
		}
		fn, err := abicall.ParseSignature(a)
		if err == nil {
			return &fn, nil
		}
		s.out.say("That is no signature: " + sentence(clean(err.Error(), 200)))
	}
}

// askData asks for call data, and prints its decoded form.
func (s *session) askData(ctx context.Context, c *intent.Call) error {
	for {
		a, err := s.ask(ctx, question{text: "Type the call data, 0x and hexadecimal digits:"})
		if err != nil {
			return err
		}
		b, err := hex.DecodeString(strings.TrimPrefix(a, "0x"))
		if err != nil || !strings.HasPrefix(a, "0x") {
			s.out.say("Call data is 0x and an even number of hexadecimal digits.")
			continue
		}
		c.Data = "0x" + hex.EncodeToString(b)
		if fn, ok := decodable(b); ok {
			c.Function = fn.String()
		}
		return nil
	}
}

// decodable finds a well-known function that encodes to exactly the data.
func decodable(data []byte) (abicall.Function, bool) {
	if len(data) < 4 {
		return abicall.Function{}, false
	}
	fn, ok := abicall.Lookup(abicall.Known(), [4]byte(data))
	if !ok {
		return fn, false
	}
	_, err := fn.Decode(data)
	return fn, err == nil
}

// askValue asks how much of the chain's coin goes with a call; the answer is in wei, "" for none.
func (s *session) askValue(ctx context.Context, chain caip.Chain) (string, error) {
	id, _ := chain.EVMID()
	native, _ := s.ctx.Catalog.NativeOf(id)
	for {
		a, err := s.ask(ctx, question{text: "How much " + native.Symbol +
			" goes with the call? Type an amount, or 0 for none:"})
		if err != nil {
			return "", err
		}
		v, err := amount.Parse(a, native.Decimals)
		switch {
		case err != nil:
			s.out.say(capital(sentence(clean(err.Error(), 200))))
		case v.Sign() == 0:
			return "", nil
		default:
			return v.String(), nil
		}
	}
}

// askAddress asks for an address on a chain: in full, or by the symbol of a token or the name of a contact, whose
// address it then prints in full.
func (s *session) askAddress(ctx context.Context, chain caip.Chain, text string) (string, error) {
	how := " Type an address, the symbol of a token there, or a name of your address book:"
	if len(s.deps.Book) == 0 {
		how = " Type an address, or the symbol of a token there:"
	}
	for {
		a, err := s.ask(ctx, question{text: text + how})
		if err != nil {
			return "", err
		}
		found, problem := s.resolve(chain, a)
		if problem != "" {
			s.out.say(problem)
			continue
		}
		s.out.fact(2, "That is", address(found))
		return found, nil
	}
}

// resolve turns typed text into an address of the chain, or says what is wrong with it.
func (s *session) resolve(chain caip.Chain, text string) (found, problem string) {
	for _, agg := range s.ctx.Catalog.Aggregates() {
		for _, e := range agg.Entities {
			if token, ok := e.Asset.Token(); ok && e.Asset.Chain == chain && strings.EqualFold(e.Symbol, text) {
				return token.Hex(), ""
			}
		}
	}
	for _, c := range s.deps.Book {
		if strings.EqualFold(c.Name, text) {
			text = c.Address
		}
	}
	if chain.IsSolana() {
		if _, err := caip.ParseSolanaKey(text); err != nil {
			return "", "That is no Solana address."
		}
		return text, ""
	}
	if _, err := caip.ParseAddress(text); err != nil {
		return "", "An address is 0x and 40 hexadecimal digits."
	}
	if caip.CheckEIP55(text) != nil {
		return "", "The checksum of that address is wrong: a letter or digit has changed."
	}
	return text, ""
}

// grants names a function that gives somebody rights over tokens; such a call is not sent but declared as an allowance.
func grants(data string) string {
	raw, err := hex.DecodeString(strings.TrimPrefix(data, "0x"))
	if err != nil {
		return ""
	}
	return api.ApprovalName(raw)
}

// approval turns an approve of a known token into an allowance, when the person agrees.
func (s *session) approval(ctx context.Context, p *plan, c intent.Call, name string) error {
	token, ok := s.tokenAt(p.chain(), c.To)
	b := common.FromHex(c.Data)
	if name != "approve" || !ok || len(b) != 68 {
		s.out.say("A call of " + name +
			" gives away rights, or may do so, and is not made here: declare what it may take as an allowance.")
		return errBack
	}
	yes, err := s.yes(ctx, "An approve is no call here: it belongs to the allowances, which are taken back after the "+
		"calls. Make it an allowance?")
	if err != nil || !yes {
		return err
	}
	p.d.Allowances = append(p.d.Allowances, api.AllowanceRequirement{
		AssetType: token.Asset.String(), Amount: new(big.Int).SetBytes(b[36:]).String(),
		Spender: common.BytesToAddress(b[4:36]).Hex(),
	})
	return nil
}

// changeCall changes or removes one call.
func (s *session) changeCall(ctx context.Context, p *plan) error {
	var m menu
	for i := range p.d.Calls {
		m.items = append(m.items, "Change call "+itoa(i+1))
	}
	n := len(m.items)
	for i := range p.d.Calls {
		m.items = append(m.items, "Remove call "+itoa(i+1))
	}
	if n == 0 {
		s.out.say("There is no call yet.")
		return nil
	}
	i, _, err := s.choose(ctx, m)
	switch {
	case err != nil:
		return err
	case i < n:
		return s.addCall(ctx, p, i)
	}
	p.d.Calls = append(p.d.Calls[:i-n:i-n], p.d.Calls[i-n+1:]...)
	return nil
}

// readCall prints one call of the plan.
func (s *session) readCall(n int, chain caip.Chain, c intent.Call) {
	name := c.Function
	if name == "" {
		name = "plain payment"
		if c.Data != "" {
			name = "a call with " + plural((len(c.Data)-2)/2, "byte", "bytes") + " of data"
		}
	}
	at := "an unknown contract"
	token, known := s.tokenAt(chain, c.To)
	if known {
		at = token.Symbol
	}
	s.out.put(2, plain("Call "+itoa(n)+": "+clean(name, 600)+", on "+at+", "), address(c.To))
	if fn, ok := decodable(common.FromHex(c.Data)); ok {
		if values, err := fn.Decode(common.FromHex(c.Data)); err == nil {
			s.readArgs(fn, values, token.Symbol, token.Decimals, known)
		}
	}
	if c.Value != "" {
		id, _ := chain.EVMID()
		s.out.put(4, plain("with "+s.asked(caip.Native(id).String(), c.Value)))
	}
}

// askMinutes asks for the validity of the request.
func (s *session) askMinutes(ctx context.Context, p *plan) error {
	for {
		text := "For how many minutes may it run? Type a number from " + itoa(minMinutes) + " to " + itoa(maxMinutes) +
			":"
		a, err := s.ask(ctx, question{text: text})
		if err != nil {
			return err
		}
		if n, err := strconv.Atoi(a); err == nil && n >= minMinutes && n <= maxMinutes {
			p.minutes = n
			return nil
		}
		s.out.say("That is not a number of minutes from " + itoa(minMinutes) + " to " + itoa(maxMinutes) + ".")
	}
}
