package service_test

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"testing"

	"coffer/api/service"
)

// BenchmarkEndpoint asks an endpoint over one connection, one call after the other.
func BenchmarkEndpoint(b *testing.B) {
	_, n := withNodes(b, service.NodesOptions{Listen: "127.0.0.1:0"})
	at, err := url.Parse(n.List[0].HTTP)
	if err != nil {
		b.Fatal(err)
	}
	for name, body := range map[string]string{
		"eth_getBalance": `{"jsonrpc":"2.0","id":1,"method":"eth_getBalance","params":[` +
			`"0xf39Fd6e51aad88F6F4ce6aB8827279cffFb92266","latest"]}`,
		"eth_call": `{"jsonrpc":"2.0","id":1,"method":"eth_call","params":[` +
			`{"to":"0x0000000071727De22E5E9d8BAf0edAc6f37da032","data":"0x01ffc9a701ffc9a7"},"latest"]}`,
	} {
		b.Run(name, func(b *testing.B) {
			c, err := net.Dial("tcp", at.Host) //nolint:noctx // of the test
			if err != nil {
				b.Fatal(err)
			}
			defer func() { _ = c.Close() }()
			request := fmt.Appendf(nil, "POST %s HTTP/1.1\r\nhost: %s\r\ncontent-type: application/json\r\n"+
				"content-length: %d\r\nConnection: keep-alive\r\n\r\n%s", at.Path, at.Host, len(body), body)
			in := bufio.NewReader(c)
			b.ReportAllocs()
			for b.Loop() {
				if _, err := c.Write(request); err != nil {
					b.Fatal(err)
				}
				r, err := http.ReadResponse(in, nil)
				if err != nil {
					b.Fatal(err)
				}
				_, _ = io.Copy(io.Discard, r.Body)
				_ = r.Body.Close()
			}
		})
	}
}
