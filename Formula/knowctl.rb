# Homebrew: `brew tap your-org/knowctl https://github.com/your-org/knowctl`, then `brew install knowctl`.
# A release sets url and sha256 to its package (docs/publishing.md). The zeros refuse every download.
class Knowctl < Formula
  desc "Command-line tool for the administrators of a knowledge-assistant service"
  homepage "https://github.com/your-org/knowctl"
  url "https://github.com/your-org/knowctl/releases/download/v1.0.0/knowctl-1.0.0.tgz"
  sha256 "0000000000000000000000000000000000000000000000000000000000000000"
  license "MIT"

  depends_on "node"

  def install
    # Below libexec, as docs.brew.sh, "Node for Formula Authors", has it.
    system "npm", "install", *std_npm_args
    bin.install_symlink libexec/"bin/knowctl"
    man1.install "docs/knowctl.1"
    generate_completions_from_executable bin/"knowctl", "completion"
  end

  test do
    assert_match version.to_s, shell_output("#{bin}/knowctl --version")
    (testpath/"docs/hello.md").write "# Hello\n\nThe office opens at nine.\n"
    assert_match "opens at nine", shell_output("#{bin}/knowctl convert docs/hello.md")
  end
end
