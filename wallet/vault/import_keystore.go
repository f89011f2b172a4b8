package vault

import (
	"crypto/aes"
	"crypto/cipher"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/hex"
	"encoding/json"
	"strings"

	"github.com/ethereum/go-ethereum/crypto"
	"golang.org/x/crypto/pbkdf2"
	"golang.org/x/crypto/scrypt"

	"coffer/api/secret"
)

// The most work that a keystore file may ask for, checked before any is done (TH-KR6): scrypt's memory of 128·N·r bytes
// and its time of N·r·p steps, and the rounds of PBKDF2. The usual files ask for 256 MiB and 2^21, or for 2^18 rounds.
const (
	maxScryptMemory = 1 << 30
	maxScryptSteps  = 1 << 24
	maxRounds       = 1 << 22
)

// keystoreV3 is a Web3 Secret Storage file. Its other members do not matter. Older programs write "Crypto", which the
// decoder takes as well.
type keystoreV3 struct {
	Version int    `json:"version"`
	Address string `json:"address"`
	Crypto  struct {
		Cipher       string `json:"cipher"`
		CipherText   string `json:"ciphertext"`
		CipherParams struct {
			IV string `json:"iv"`
		} `json:"cipherparams"`
		KDF       string    `json:"kdf"`
		KDFParams kdfParams `json:"kdfparams"`
		MAC       string    `json:"mac"`
	} `json:"crypto"`
}

type kdfParams struct {
	Length int    `json:"dklen"`
	Salt   string `json:"salt"`
	N      int    `json:"n"` // scrypt
	R      int    `json:"r"`
	P      int    `json:"p"`
	C      int    `json:"c"` // PBKDF2
	PRF    string `json:"prf"`
}

// parseKeystore opens a keystore file with its password.
func parseKeystore(text []byte, password secret.Secret) ([]byte, error) {
	var k keystoreV3
	if json.Unmarshal(text, &k) != nil || k.Version != 3 {
		return nil, bad(FormKeystore, "not a keystore file of version 3")
	}
	c := k.Crypto
	if c.Cipher != "aes-128-ctr" {
		return nil, bad(FormKeystore, "its cipher is not aes-128-ctr")
	}
	iv, sealed, mac := fixedHex(c.CipherParams.IV, aes.BlockSize), fixedHex(c.CipherText, keySize), fixedHex(c.MAC, 32)
	salt, err := hex.DecodeString(c.KDFParams.Salt)
	if iv == nil || sealed == nil || mac == nil || err != nil || len(salt) > 256 {
		return nil, bad(FormKeystore, "its ciphertext, iv, mac or salt is malformed")
	}
	if password.Empty() {
		return nil, &ImportError{Form: FormKeystore, Problem: "its password is needed", NeedsPassword: true,
			cause: ErrPassphrase}
	}
	derived, err := c.KDFParams.derive(c.KDF, password.Reveal(), salt)
	if err != nil {
		return nil, err
	}
	defer clear(derived)
	if subtle.ConstantTimeCompare(crypto.Keccak256(derived[16:32], sealed), mac) != 1 {
		return nil, &ImportError{Form: FormKeystore, Problem: "wrong password, or a damaged file", cause: ErrPassphrase}
	}
	block, err := aes.NewCipher(derived[:16])
	if err != nil {
		return nil, bad(FormKeystore, "its key cannot be used")
	}
	key := make([]byte, keySize)
	cipher.NewCTR(block, iv).XORKeyStream(key, sealed) //nolint:gosec // it decrypts: the iv is the file's
	if address, err := addressOf(EVM, key); err == nil && k.Address != "" &&
		!strings.EqualFold("0x"+strings.TrimPrefix(k.Address, "0x"), address) {
		clear(key)
		return nil, bad(FormKeystore, "the key in it belongs to another address than the file says")
	}
	return key, nil
}

func (p kdfParams) derive(kdf string, password, salt []byte) ([]byte, error) {
	tooMuch := &ImportError{Form: FormKeystore, Problem: "opening it would take more work or memory than is allowed",
		cause: ErrWork}
	if p.Length != keySize {
		return nil, bad(FormKeystore, "its derived key is not 32 bytes long")
	}
	switch kdf {
	case "scrypt":
		if p.N < 2 || p.N&(p.N-1) != 0 || p.R < 1 || p.P < 1 {
			return nil, bad(FormKeystore, "its scrypt parameters are impossible")
		}
		// Each factor is bounded first, so that no product overflows.
		if p.N > maxScryptMemory/128 || p.R > maxScryptMemory/128/p.N || p.P > maxScryptSteps ||
			p.P > maxScryptSteps/(p.N*p.R) {
			return nil, tooMuch
		}
		derived, err := scrypt.Key(password, salt, p.N, p.R, p.P, p.Length)
		if err != nil {
			return nil, bad(FormKeystore, "its scrypt parameters are impossible")
		}
		return derived, nil
	case "pbkdf2":
		if p.PRF != "hmac-sha256" || p.C < 1 {
			return nil, bad(FormKeystore, "its PBKDF2 parameters are impossible")
		}
		if p.C > maxRounds {
			return nil, tooMuch
		}
		return pbkdf2.Key(password, salt, p.C, p.Length, sha256.New), nil
	}
	return nil, bad(FormKeystore, "its key derivation is neither scrypt nor pbkdf2")
}

// fixedHex decodes hexadecimal of exactly size bytes, or returns nil.
func fixedHex(s string, size int) []byte {
	b, err := hex.DecodeString(strings.TrimPrefix(s, "0x"))
	if err != nil || len(b) != size {
		return nil
	}
	return b
}
