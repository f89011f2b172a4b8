package intent

import (
	"errors"
	"strconv"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"coffer/api/op/abicall"
)

// safeMethod is the ABI entry of a method, in the members that calls need.
type safeMethod struct {
	Type    string      `json:"type,omitzero"`
	Name    string      `json:"name"`
	Inputs  []safeInput `json:"inputs"`
	Payable bool        `json:"payable"`
}

type safeInput struct {
	Name         string      `json:"name"`
	Type         string      `json:"type"`
	InternalType string      `json:"internalType,omitzero"`
	Components   []safeInput `json:"components,omitempty"`
}

func readMethod(raw jsontext.Value) (safeMethod, string) {
	var m safeMethod
	if raw.Kind() != '{' || json.Unmarshal(raw, &m) != nil {
		return m, "a method: name and inputs"
	}
	if m.plain() && len(m.Inputs) > 0 {
		return m, m.Name + " without inputs"
	}
	if !m.plain() && m.Type != "" && m.Type != "function" {
		return m, "a function"
	}
	return m, ""
}

// plain reports whether the method is one of the two that have no selector: the Safe sends nothing or the data as it
// stands.
func (m safeMethod) plain() bool { return m.Name == "receive" || m.Name == "fallback" }

func (m safeMethod) function() (abicall.Function, error) {
	abi, err := json.Marshal(safeMethod{Type: "function", Name: m.Name, Inputs: m.Inputs})
	if err != nil {
		return abicall.Function{}, err
	}
	list, err := abicall.ParseJSON(abi)
	if err != nil {
		var syntax *abicall.SyntaxError
		if errors.As(err, &syntax) {
			return abicall.Function{}, errors.New(syntax.Problem)
		}
		return abicall.Function{}, err
	}
	return list[0], nil
}

// encode makes call data of the values in the file. Values of inputs that the method does not have are left over from
// other methods and mean nothing.
func (r *safeReader) encode(path string, f abicall.Function, raw jsontext.Value) ([]byte, bool) {
	given := map[string]jsontext.Value{}
	if !absent(raw) && (raw.Kind() != '{' || json.Unmarshal(raw, &given) != nil) {
		r.fail(path, "an object with the inputs by name", raw)
		return nil, false
	}
	inputs := f.Inputs()
	values := make([]abicall.Value, len(inputs))
	names := map[string]bool{}
	before := len(r.failures)
	for i, p := range inputs {
		name := inputName(p, i)
		at := path + "." + name
		v, ok := given[name]
		switch {
		case names[name]:
			r.failGot(at, "one input of that name", "two")
			continue
		case !ok || absent(v):
			r.failGot(at, "a value of type "+p.Type, "")
			continue
		}
		names[name] = true
		form, problem := formValue(p, v)
		if problem != "" {
			r.failGot(at, problem, shown(v))
		}
		values[i] = form
	}
	if len(r.failures) > before {
		return nil, false
	}
	data, err := f.Encode(values)
	if err == nil {
		return data, true
	}
	for _, e := range f.Check(values) {
		r.failGot(path+"."+e.Field, e.Problem, "another value")
	}
	return nil, false
}

// inputName is the name under which the format has the value of input i.
func inputName(p abicall.Param, i int) string {
	if p.Name == "" {
		return strconv.Itoa(i)
	}
	return p.Name
}
