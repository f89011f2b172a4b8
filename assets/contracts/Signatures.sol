// SPDX-License-Identifier: MIT
pragma solidity ^0.8.28;

/// Signatures of 65 bytes, r || s || v, with v 27 or 28 and s in the lower half of the curve order.
library Signatures {
    uint256 internal constant LENGTH = 65;
    uint256 private constant HALF_ORDER = 0x7fffffffffffffffffffffffffffffff5d576e7357a4501ddfe92f46681b20a0;

    /// @return signer the zero address for anything that is not a well-formed signature
    function recover(bytes32 digest, bytes calldata signature) internal pure returns (address signer) {
        if (signature.length != LENGTH) return address(0);
        bytes32 r = bytes32(signature[0:32]);
        bytes32 s = bytes32(signature[32:64]);
        uint8 v = uint8(signature[64]);
        if (uint256(s) > HALF_ORDER || (v != 27 && v != 28)) return address(0);
        return ecrecover(digest, v, r, s);
    }

    /// The zero address never matches, so a missing owner cannot be matched by a malformed signature.
    function isBy(address signer, bytes32 digest, bytes calldata signature) internal pure returns (bool) {
        return signer != address(0) && recover(digest, signature) == signer;
    }

    /// Wallets sign a hash as it is or as an EIP-191 message; both count.
    function isByPlainOrPersonal(address signer, bytes32 hash, bytes calldata signature) internal pure returns (bool) {
        return isBy(signer, hash, signature) || isBy(signer, personal(hash), signature);
    }

    /// EIP-191 digest of a 32-byte message.
    function personal(bytes32 hash) internal pure returns (bytes32) {
        return keccak256(abi.encodePacked("\x19Ethereum Signed Message:\n32", hash));
    }

    /// EIP-712 digest.
    function typed(bytes32 domainSeparator, bytes32 structHash) internal pure returns (bytes32) {
        return keccak256(abi.encodePacked(hex"1901", domainSeparator, structHash));
    }
}
