package httpapi

import (
	"bytes"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"math/big"
	"reflect"

	"github.com/ethereum/go-ethereum/accounts/abi"
	"github.com/ethereum/go-ethereum/common"

	"coffer/api/caip"
	"coffer/api/catalog"
	"coffer/api/service/chain"
	"coffer/api/service/deployment"
	"coffer/assets"
)

// event is one decoded log, or one decoded Solana instruction.
type event struct {
	Name  string
	Where string // what At is: the contract or the program
	At    labelled
	Args  []argument
}

// argument is one decoded value; Label names the owner of an address.
type argument struct{ Name, Value, Label string }

// eventKey tells events apart: signature, and how many arguments are indexed (two standards may differ in that alone).
type eventKey struct {
	topic   common.Hash
	indexed int
}

const inContract = "Contract"

// eventsOfVersion1 are those that the escrow of networks of version 1 alone has: their transactions stay readable.
const eventsOfVersion1 = `[{"type":"event","name":"Deposited","inputs":[
	{"name":"quoteId","type":"bytes32","indexed":true},{"name":"depositor","type":"address","indexed":true},
	{"name":"token","type":"address","indexed":true},{"name":"amount","type":"uint256"},
	{"name":"refundDeadline","type":"uint64"}]},{"type":"event","name":"Released","inputs":[
	{"name":"quoteId","type":"bytes32","indexed":true},{"name":"depositor","type":"address","indexed":true},
	{"name":"to","type":"address","indexed":true},{"name":"token","type":"address"},
	{"name":"amount","type":"uint256"}]}]`

// decoder knows the events of the contracts that genesis places, or did.
type decoder struct {
	events  map[eventKey]abi.Event
	catalog *catalog.Catalog
	label   func(caip.Chain, common.Address) labelled
}

func newDecoder(n *deployment.Network, label func(caip.Chain, common.Address) labelled) (decoder, error) {
	d := decoder{map[eventKey]abi.Event{}, n.Catalog, label}
	interfaces := []json.RawMessage{json.RawMessage(eventsOfVersion1)}
	for _, name := range assets.ContractNames() {
		art, err := assets.Contract(name)
		if err != nil {
			return d, err
		}
		interfaces = append(interfaces, art.ABI)
	}
	for _, text := range interfaces {
		parsed, err := abi.JSON(bytes.NewReader(text))
		if err != nil {
			return d, fmt.Errorf("interface of a contract: %w", err)
		}
		for _, e := range parsed.Events {
			if key := keyOf(e); d.events[key].ID == (common.Hash{}) {
				d.events[key] = e
			}
		}
	}
	return d, nil
}

func keyOf(e abi.Event) eventKey {
	key := eventKey{topic: e.ID}
	for _, in := range e.Inputs {
		if in.Indexed {
			key.indexed++
		}
	}
	return key
}

// decode shows a log with names and values, or with its raw topics and data when it is not known.
func (d decoder) decode(on caip.Chain, l chain.Log) event {
	if len(l.Topics) > 0 {
		if e, ok := d.events[eventKey{l.Topics[0], len(l.Topics) - 1}]; ok {
			if args, ok := d.arguments(on, l, e); ok {
				return event{Name: e.RawName, Where: inContract, Args: args}
			}
		}
	}
	out := event{Name: "Unknown event", Where: inContract}
	for i, t := range l.Topics {
		out.Args = append(out.Args, argument{Name: fmt.Sprintf("topic %d", i), Value: t.Hex()})
	}
	if len(l.Data) > 0 {
		out.Args = append(out.Args, argument{Name: "data", Value: "0x" + hex.EncodeToString(l.Data)})
	}
	return out
}

func (d decoder) arguments(on caip.Chain, l chain.Log, e abi.Event) ([]argument, bool) {
	values := map[string]any{}
	if len(l.Data) > 0 {
		if err := e.Inputs.NonIndexed().UnpackIntoMap(values, l.Data); err != nil {
			return nil, false
		}
	}
	var indexed abi.Arguments
	for _, in := range e.Inputs {
		if in.Indexed {
			indexed = append(indexed, in)
		}
	}
	if err := abi.ParseTopicsIntoMap(values, indexed, l.Topics[1:]); err != nil {
		return nil, false
	}
	token := l.Address // whose base units an amount is in: the contract's own, unless the event names another one
	if named, ok := values["token"].(common.Address); ok {
		token = named
	}
	var out []argument
	for _, in := range e.Inputs {
		v, ok := values[in.Name]
		if !ok {
			return nil, false
		}
		a := argument{Name: in.Name, Value: d.text(on, token, in.Name, v)}
		if at, ok := v.(common.Address); ok {
			a.Label = d.label(on, at).Name
		}
		out = append(out, a)
	}
	return out, true
}

// text writes a value; an amount of a known token or of the chain's coin also in whole units, a moment also as a date.
func (d decoder) text(on caip.Chain, token common.Address, name string, v any) string {
	switch v := v.(type) {
	case common.Address:
		return v.Hex()
	case []byte:
		return "0x" + hex.EncodeToString(v)
	case *big.Int:
		if e, ok := d.unit(on, token, name); ok {
			return v.String() + " = " + human(v, e)
		}
		if name == "availableAt" && v.IsUint64() {
			return v.String() + " = " + utc(v.Uint64())
		}
	case uint64:
		if name == "refundDeadline" {
			return fmt.Sprintf("%d = %s", v, utc(v))
		}
	}
	if t := reflect.TypeOf(v); t.Kind() == reflect.Array && t.Elem().Kind() == reflect.Uint8 { // bytes1 to bytes32
		return fmt.Sprintf("%#x", v)
	}
	return fmt.Sprint(v)
}

// unit is the entity whose base units an argument counts; the zero address stands for the chain's coin.
func (d decoder) unit(on caip.Chain, token common.Address, name string) (catalog.Entity, bool) {
	id, _ := on.EVMID()
	switch name {
	case "actualGasCost", "totalDeposit":
		return d.catalog.NativeOf(id)
	case "value", "amount":
		if token == (common.Address{}) {
			return d.catalog.NativeOf(id)
		}
		return d.catalog.Entity(caip.ERC20(id, token))
	}
	return catalog.Entity{}, false
}
