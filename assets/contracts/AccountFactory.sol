// SPDX-License-Identifier: MIT
pragma solidity ^0.8.28;

import {IAccountFactory} from "./Types.sol";

/// Deploys accounts at CREATE2 addresses that anyone can compute: salt = keccak256(data || salt), init code = the 95-byte
/// ERC-1967 proxy around implementation. Deploying and initialising happen in one call, so nobody can come between.
contract AccountFactory is IAccountFactory {
    error DeploymentFailed();
    error InitializationFailed(bytes reason);
    error TransferFailed();

    address public immutable implementation;

    constructor(address implementation_) {
        implementation = implementation_;
    }

    /// @param data call data with which a new account is initialised
    /// @return account deployed now or before; what was sent along reaches it either way
    function createAccount(bytes calldata data, bytes32 salt) external payable returns (address account) {
        bytes memory code = initCode();
        bytes32 fullSalt = _salt(data, salt);
        account = _predict(keccak256(code), fullSalt);
        if (account.code.length != 0) {
            _forwardValue(account);
            return account;
        }
        address created;
        assembly ("memory-safe") {
            created := create2(callvalue(), add(code, 0x20), mload(code), fullSalt)
        }
        if (created != account) revert DeploymentFailed();
        (bool ok, bytes memory reason) = account.call(data);
        if (!ok) revert InitializationFailed(reason);
    }

    function getAddress(bytes calldata data, bytes32 salt) external view returns (address) {
        return _predict(keccak256(initCode()), _salt(data, salt));
    }

    /// 34 bytes that store the implementation in the ERC-1967 slot, 61 bytes of proxy.
    function initCode() public view returns (bytes memory) {
        return abi.encodePacked(
            hex"603d3d8160223d3973",
            implementation,
            hex"60095155f3363d3d373d3d363d7f360894a13ba1a3210667c828492db98dca3e2076",
            hex"cc3735a920a3ca505d382bbc545af43d6000803e6038573d6000fd5b3d6000f3"
        );
    }

    function _salt(bytes calldata data, bytes32 salt) private pure returns (bytes32) {
        return keccak256(abi.encodePacked(data, salt));
    }

    function _predict(bytes32 codeHash, bytes32 salt) private view returns (address) {
        return address(uint160(uint256(keccak256(abi.encodePacked(bytes1(0xff), address(this), salt, codeHash)))));
    }

    function _forwardValue(address account) private {
        if (msg.value == 0) return;
        (bool ok,) = account.call{value: msg.value}("");
        if (!ok) revert TransferFailed();
    }
}
