# Renders the app as Open OnDemand's dashboard does, with what it documents of form attributes,
# contexts and submit options.
#
#   ruby stand_in.rb APP FOLDER < {"name": "what the student typed", …}
#
# Writes FOLDER/form.yml, submit.yml, job.sh, options.json and the rendered template/* beside them;
# with a connection.yml in FOLDER: only view.html.

require "erb"
require "fileutils"
require "json"
require "ostruct"
require "yaml"

app, folder = ARGV

def render(file, binding)
  erb = ERB.new(File.read(file), trim_mode: "-")
  erb.filename = file
  erb.result(binding)
end

def binding_of(values)
  taken = OpenStruct.new.methods.map(&:to_s) & values.keys
  raise "OnDemand refuses #{taken} as names of form attributes" unless taken.empty?
  OpenStruct.new(values).instance_eval { binding }
end

if File.file?("#{folder}/connection.yml")
  connection = YAML.safe_load(File.read("#{folder}/connection.yml"))
  view = render("#{app}/view.html.erb", binding_of(connection))
  File.write("#{folder}/view.html", view)
  exit
end

FileUtils.mkdir_p(folder)
form_text = render("#{app}/form.yml.erb", binding)
File.write("#{folder}/form.yml", form_text)
form = YAML.safe_load(form_text)

# Every attribute of the form is a string in the context; one that is no map is fixed.
typed = JSON.parse($stdin.read)
context = form["form"].to_h do |name|
  attribute = form["attributes"].fetch(name, {})
  value = attribute.is_a?(Hash) ? typed.fetch(name, attribute["value"]) : attribute
  [name, value.to_s]
end

submit_text = render("#{app}/submit.yml.erb", binding_of(context))
File.write("#{folder}/submit.yml", submit_text)
submit = YAML.safe_load(submit_text)

# What the predefined attributes add by themselves.
predefined = {
  "accounting_id" => context["bc_account"],
  "queue_name" => context["bc_queue"],
  "wall_time" => context["bc_num_hours"] && context["bc_num_hours"].to_i * 3600
}.reject { |_, value| value.nil? || value == "" }
script = predefined.merge(submit["script"])
script["workdir"] = folder
script["output_path"] = "#{folder}/output.log"
File.write("#{folder}/options.json", JSON.pretty_generate(script))

Session = Struct.new(:session, :context) { def here = binding }
templates = Dir["#{app}/template/*.erb"]
templates.each do |file|
  staged = "#{folder}/#{File.basename(file, '.erb')}"
  File.write(staged, render(file, Session.new(nil, OpenStruct.new(context)).here))
  File.chmod(0o755, staged)
end

names = submit["batch_connect"]["conn_params"] + %w[host port password]
File.write("#{folder}/job.sh", <<~JOB)
  #!/bin/bash
  cd #{folder}
  export host port
  port_used() { (exec 3<>"/dev/tcp/${1%:*}/${1#*:}") 2>/dev/null; }
  find_port() {
      local port
      while port=$(shuf -i 2000-65535 -n 1) && port_used "${1:-localhost}:$port"; do :; done
      echo "$port"
  }
  wait_until_port_used() {
      local i
      for ((i = 0; i < 2 * $2; i++)); do port_used "$1" && return 0; sleep 0.5; done
      return 1
  }
  create_passwd() { tr -cd '[:alnum:]' </dev/urandom 2>/dev/null | head -c "${1:-32}"; }
  clean_up() { [ -z "$main" ] || kill "$main" 2>/dev/null; exit "${1:-0}"; }
  host=$(hostname)
  source before.sh
  "./script.sh" &
  main=$!
  source after.sh
  (umask 077 && printf '%s\\n' #{names.map { |name| %("#{name}: $#{name}") }.join(' ')} >connection.yml)
  wait "$main" || clean_up 1
  clean_up
JOB
