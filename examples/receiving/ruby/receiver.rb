# Run it: WEBHOOK_SECRET='…' PORT=8000 ruby receiver.rb
require 'json'
require 'openssl'
require 'socket'
require 'timeout'

SECRET = ENV.fetch('WEBHOOK_SECRET')
MAX_BODY_BYTES = 512_000
TOLERANCE_SECONDS = 300

# In a real receiver: a table or a queue on disk. What waits here is lost when the program ends.
INBOX = SizedQueue.new(10_000)

# HMAC-SHA256 over id, time and body. There are two signatures while a secret is being replaced.
def webhook_signature?(headers, body)
  id, sent_at = headers.values_at('webhook-id', 'webhook-timestamp')
  return false if (Time.now.to_i - sent_at.to_i).abs > TOLERANCE_SECONDS

  key = SECRET.start_with?('whsec_') ? SECRET.delete_prefix('whsec_').unpack1('m') : SECRET
  digest = OpenSSL::HMAC.digest('SHA256', key, "#{id}.#{sent_at}.".b + body)
  expected = "v1,#{[digest].pack('m0')}"
  headers['webhook-signature'].to_s.split.any? { |signature| OpenSSL.secure_compare(signature, expected) }
end

# HMAC-SHA1 over the body alone.
def x_signature?(headers, body)
  OpenSSL.secure_compare(headers['x-signature'].to_s, OpenSSL::HMAC.hexdigest('SHA1', SECRET, body))
end

# Keep the check that you use and take out the other one.
CHECKS = { '/webhooks' => method(:webhook_signature?), '/webhooks-sha1' => method(:x_signature?) }.freeze

# The status to answer with. In Rails: request.headers and request.raw_post.
def receive(path, headers, body)
  genuine = CHECKS[path]
  return 404 if genuine.nil?
  return 401 unless genuine.call(headers, body)

  INBOX.push([headers['webhook-id'], body], true)
  200
rescue ThreadError
  503 # Full: Millrace comes back later.
end

# Just enough HTTP to show it without a web framework: one request for each connection.
def serve(socket)
  Timeout.timeout(10) do
    path = socket.gets("\r\n", 8192).to_s.split[1]
    lines = socket.each_line("\r\n", 8192, chomp: true).take_while { |line| !line.empty? }
    headers = lines.to_h { |line| line.split(/:\s*/, 2) }.transform_keys(&:downcase)
    length = headers['content-length'].to_i
    status = length > MAX_BODY_BYTES ? 413 : receive(path, headers, socket.read(length).to_s)
    socket.write("HTTP/1.1 #{status} \r\nContent-Length: 0\r\nConnection: close\r\n\r\n")
  end
rescue SystemCallError, IOError, ArgumentError, Timeout::Error => e
  warn e.message
ensure
  socket.close
end

# Runs beside the answers: it may take its time.
def work
  seen = {}
  loop do
    id, body = INBOX.pop
    next if seen.key?(id)

    seen[id] = true
    puts "#{id} #{JSON.parse(body)['type']}"
  rescue JSON::ParserError => e # Half of a surrogate pair, which JSON allows.
    warn "#{id} cannot be read: #{e.message}"
  end
end

$stdout.sync = true
Thread.new { work }
server = TCPServer.new('127.0.0.1', ENV.fetch('PORT', '8000').to_i)
puts "listening on #{server.addr[1]}"
loop { Thread.new(server.accept) { |socket| serve(socket) } }
